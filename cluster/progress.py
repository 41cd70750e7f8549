"""Progress on standard error: a live line on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

from cluster.job import Tally
from mldevbench.records import RunRow

PLAIN_SECONDS = 10.0


class Progress:
    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self.live = self.stream.isatty()
        self._said = 0.0
        self._width = 0

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wipe()

    def update(self, tally: Tally, finished: RunRow | None) -> None:
        """Show where the study stands, and each run that ends."""
        while tally.notes:
            self._wipe()
            self._say(tally.notes.pop(0))
        if finished:
            self._wipe()
            self._say(ended_line(finished))
        if self.live:
            text = standing_line(tally)
            self.stream.write("\r" + text.ljust(self._width))
            self._width = len(text)
            self.stream.flush()
        elif time.monotonic() - self._said >= PLAIN_SECONDS:
            self._say(standing_line(tally))
            self._said = time.monotonic()

    def _say(self, text: str) -> None:
        self.stream.write(text + "\n")
        self.stream.flush()

    def _wipe(self) -> None:
        if self.live and self._width:
            self.stream.write("\r" + " " * self._width + "\r")
            self._width = 0


def ended_line(row: RunRow) -> str:
    why = row.cause or (row.stop_reason if row.stop_reason != "finished" else None)
    words = f"{row.outcome:7} {row.label}  {row.task}  seed {row.seed}"
    return words + (f"  instance {row.instance}" if row.instance else "") + (f"  ({why})" if why else "")


def standing_line(tally: Tally) -> str:
    spent = "cost unknown" if tally.usd is None else f"${tally.usd:.2f}"
    where = [f"{tally.nodes} nodes"] if tally.nodes > 1 else []
    if tally.gpus:
        where.append(
            f"{tally.gpus_held:g} of {tally.gpus:g} GPUs held" + f", {tally.gpus_idle:g} idle" * (tally.gpus_idle > 0)
        )
    if tally.model_wait_seconds >= 1:
        where.append(f"agents waited {tally.model_wait_seconds:.0f} s for models")
    return ", ".join(
        [
            f"{tally.done}/{tally.planned} done",
            f"{tally.passed} passed",
            f"{tally.running} running",
            f"{tally.grading} being judged",
            f"{tally.owed} owed",
            *where,
            f"{spent} spent",
            left_text(tally),
        ]
    )


def left_text(tally: Tally) -> str:
    """Say how long it will take, and whether that is more than what the tasks' authors guess."""
    if tally.running and not tally.seconds_left:
        return "time left unknown"
    text = f"about {tally.seconds_left / 60:.0f} min left" if tally.seconds_left >= 60 else "less than a minute left"
    return f"{text} by the tasks' own guesses" if tally.guessing else text
