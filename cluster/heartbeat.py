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
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(BEAT_SECONDS)

    def _beat(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            for actor in self._actors():
                actor.hear.remote()
