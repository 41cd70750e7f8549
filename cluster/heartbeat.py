"""The driver's word to its run actors that it lives, from a thread: a slow storage must not silence it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

BEAT_SECONDS = 2.0


class Heartbeat:
    """Use as a context manager; `actors` is asked anew at each beat."""

    def __init__(self, actors: Callable[[], Iterable[Any]]) -> None:
        self._actors = actors
        self._over = threading.Event()
        self.wait_seconds = 0.0  # how long the agents that work have waited for their models
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(BEAT_SECONDS)

    def _beat(self) -> None:
        import ray

        asked: list[Any] = []
        while not self._over.wait(BEAT_SECONDS):
            answered, _ = ray.wait(asked, num_returns=len(asked), timeout=0) if asked else ([], [])
            self.wait_seconds = sum(self._heard(reference) for reference in answered)
            asked = [actor.hear.remote() for actor in self._actors()]

    def _heard(self, reference: Any) -> float:
        import ray
        from ray.exceptions import RayError

        try:
            return ray.get(reference, timeout=1)
        except RayError:  # the actor is gone; the driver's loop hears of it too
            return 0.0
