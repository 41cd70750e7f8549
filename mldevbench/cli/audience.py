"""Who hears how a study goes: the person's terminal, Ray's metrics and W&B."""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

from mldevbench.cli.output import note
from mldevbench.errors import Fault, UserError
from mldevbench.model.secrets import read_env_file
from mldevbench.plan import Plan
from mldevbench.records import RunRow
from mldevbench.store.place import Place

if TYPE_CHECKING:
    from cluster.job import Ended, Tally
    from mldevbench.cli.running import Call, Ready
    from mldevbench.tracking import Tracker


class Audience:
    """Passes each word of the driver on; only the terminal is one that it waits for."""

    def __init__(
        self, call: Call, ready: Ready, place: Place, whole: Plan, terminal: Callable[[Tally, RunRow | None], None]
    ) -> None:
        from cluster.metrics import Metrics

        self.terminal = terminal
        self.metrics = Metrics(ready.name)
        self.tracker = _tracker(call, ready, place, whole)
        self._hurry = True

    def __enter__(self) -> Audience:
        return self

    def tell(self, tally: Tally, finished: RunRow | None) -> None:
        self.terminal(tally, finished)
        self.metrics.update(tally, finished)
        if self.tracker:
            self.tracker.update(tally.running, finished)

    def heard(self, ended: Ended) -> Ended:
        """Take note of an ordinary end, which leaves time for the tables."""
        self._hurry = ended.interrupted
        return ended

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.tracker is None:
            return
        try:
            self.tracker.close(self._hurry)
        except KeyboardInterrupt:  # the study is done; only W&B was waited for
            self.tracker.close(hurry=True)


def _tracker(call: Call, ready: Ready, place: Place, whole: Plan) -> Tracker | None:
    if not ready.wandb.on:
        return None
    from mldevbench.tracking import Tracker, subjects_of

    environment = {**os.environ, **(read_env_file(call.env_file) if call.env_file else {})}
    try:
        subjects = subjects_of(ready.name, place, ready.request, whole)
        return Tracker(ready.wandb, place, ready.name, subjects, note, environment)
    except (OSError, Fault, UserError) as error:
        note(f"W&B: can't be started ({error}); the study goes on without it")
        return None
