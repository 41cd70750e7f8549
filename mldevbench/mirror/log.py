"""A mirror's request log: a hint at what an agent did, never a proof of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

MOST_LINES = 20_000  # an inmate could fill our disk otherwise
LONGEST = 500


class RequestLog:
    """Lines of JSON: when, what was asked for, what was answered."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._clock, self._began = clock, clock()
        self._lines = 0
        self._file = path.open("w", encoding="utf-8")

    def note(self, method: str, path: str, status: int, size: int, about: str = "") -> None:
        """Add one request; `size` is the number of bytes that were sent."""
        if self._lines >= MOST_LINES or self._file.closed:
            return
        self._lines += 1
        line = {"seconds": round(self._clock() - self._began, 3), "method": method, "path": path[:LONGEST],
                "status": status, "bytes": size, "about": about[:LONGEST]}  # fmt: skip
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()
