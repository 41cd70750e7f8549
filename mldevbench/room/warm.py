"""The warm process behind a node's calls: one per task venv, started when a call first needs torch.

It is untrusted: it has only imported libraries and never sees a request, a hidden file or a salt.
"""

from __future__ import annotations

import atexit
import threading
from pathlib import Path

from mldevbench.sandbox.zygote import Zygote

MAX_CALLS = 500  # all children of one zygote share its address layout, so it is replaced now and then


class Warmth:
    """Hands out the zygote of a venv; None where there is none and a fresh Python must do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._zygotes: dict[Path, Zygote] = {}
        self._calls: dict[Path, int] = {}

    def zygote(self, venv: Path, *, start: bool) -> Zygote | None:
        with self._lock:
            zygote = self._zygotes.get(venv)
            if zygote is None and not start:
                return None
            if zygote is None or self._calls[venv] >= MAX_CALLS:
                zygote = self._zygotes[venv] = Zygote(venv)
                self._calls[venv] = 0
            self._calls[venv] += 1
        return zygote if zygote.ready() else None

    def close(self) -> None:
        with self._lock:
            for zygote in self._zygotes.values():
                zygote.close()
            self._zygotes.clear()


WARMTH = Warmth()
atexit.register(WARMTH.close)
