"""A driver's mark on its cluster: a named actor that lives as long as it does, so that two see each other at once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cluster.raylet import end_with_raylet
from mldevbench.digest import of_value
from mldevbench.errors import UserError
from mldevbench.store.place import Place

NAMESPACE = "mldevbench"
PATIENCE_SECONDS = 20.0  # for Ray to notice that a driver is dead


class MarkWorker:
    def __init__(self, who: str, since: float) -> None:
        self.who, self.since = who, since
        end_with_raylet()

    def held_by(self) -> tuple[str, float]:
        """Return who drives the study, and for how many seconds."""
        return self.who, time.time() - self.since


@contextmanager
def marked(study: Place, who: str) -> Iterator[None]:
    """Hold a study's mark; refuse while another living driver of this cluster has it."""
    import ray

    remote: Any = ray.remote
    name = f"study-{of_value(study.path, 16)}"
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            worker = remote(MarkWorker).options(name=name, namespace=NAMESPACE, num_cpus=0, max_restarts=0)
            mark = worker.remote(who, time.time())
            break
        except ValueError:  # the name is taken, perhaps by a driver that was killed just now
            if time.monotonic() > deadline:
                whose = f"is being run by {_holder(name)}"
                raise UserError(f"study {study.shown!r} {whose}; wait for it or cancel it") from None
            time.sleep(0.5)
    try:
        yield
    finally:
        ray.kill(mark, no_restart=True)


def _holder(name: str) -> str:
    import ray
    from ray.exceptions import RayError

    try:
        who, seconds = ray.get(ray.get_actor(name, NAMESPACE).held_by.remote(), timeout=10)
    except (RayError, ValueError):
        return "a driver that doesn't answer"
    return f"{who}, for {seconds:.0f} s now"
