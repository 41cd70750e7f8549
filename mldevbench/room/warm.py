"""The warm processes behind a node's calls: one per task venv, started when a call first needs torch.

They are untrusted: they have only imported libraries and never see a request, a hidden file or a salt.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mldevbench.sandbox.zygote import Zygote

MAX_CALLS = 500  # all children of one zygote share its address layout, so it is replaced now and then
MAX_FAILURES = 3


@dataclass
class Hearth:
    """A zygote and who uses it."""

    zygote: Zygote
    calls: int = 0
    active: int = 0
    retired: bool = False


class Warmth:
    """Lends out the zygote of a venv; None where there is none and a fresh Python must do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hearths: dict[Path, Hearth] = {}
        self._failures: dict[Path, int] = {}

    @contextmanager
    def lent(self, venv: Path, *, start: bool) -> Iterator[Zygote | None]:
        """Lend a zygote for one call; `start` one if there is none yet."""
        hearth = self._take(venv, start)
        if hearth is None:
            yield None
            return
        try:
            ready = hearth.zygote.ready()
            if not ready:
                self._retire(venv, hearth)
            yield hearth.zygote if ready else None
        finally:
            self._give_back(venv, hearth)

    def _take(self, venv: Path, start: bool) -> Hearth | None:
        with self._lock:
            hearth = self._hearths.get(venv)
            if hearth is None:
                if not start or self._failures.get(venv, 0) >= MAX_FAILURES:
                    return None
                hearth = self._hearths[venv] = Hearth(Zygote(venv))
            hearth.calls += 1
            hearth.active += 1
            return hearth

    def _retire(self, venv: Path, hearth: Hearth) -> None:
        with self._lock:
            if not hearth.retired:
                hearth.retired = True
                self._failures[venv] = self._failures.get(venv, 0) + 1

    def _give_back(self, venv: Path, hearth: Hearth) -> None:
        with self._lock:
            hearth.active -= 1
            hearth.retired |= hearth.calls >= MAX_CALLS
            if hearth.retired and self._hearths.get(venv) is hearth:
                del self._hearths[venv]
            if hearth.retired and not hearth.active:
                hearth.zygote.close()

    def close(self) -> None:
        """End the idle ones; whoever is in use ends with its last call."""
        with self._lock:
            for hearth in self._hearths.values():
                hearth.retired = True
                if not hearth.active:
                    hearth.zygote.close()
            self._hearths.clear()


WARMTH = Warmth()
atexit.register(WARMTH.close)
