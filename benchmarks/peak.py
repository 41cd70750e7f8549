"""The most memory that this process and all that it started held together.

`python benchmarks/peak.py make demo TASKS=all` runs a command and says its time and memory at the end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

PERIOD = 0.2


class Peak:
    """Samples while the block runs; shared pages are counted once (proportional set size)."""

    def __init__(self) -> None:
        self.megabytes = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Peak:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._end.wait(PERIOD):
            self.megabytes = max(self.megabytes, sum(map(held, tree(os.getpid()))) / 1024)


def tree(root: int) -> list[int]:
    """Return a process and its descendants."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text("latin-1").rpartition(")")[2].split()[1])
            except OSError:
                continue
    found = [root]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def held(process: int) -> int:
    """Return a process's proportional share of memory, in kB."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def main() -> None:
    began = time.monotonic()
    with Peak() as peak:
        code = subprocess.call(sys.argv[1:])
    print(f"{time.monotonic() - began:.0f} s, at most {peak.megabytes:,.0f} MB")
    raise SystemExit(code)


if __name__ == "__main__":
    main()
