"""The kernel's limits per process that the keeper sets for every command."""

from __future__ import annotations

from typing import NamedTuple

from mldevbench.sandbox.protocol import Limits

SPARE_MB = 256


class Bounds(NamedTuple):
    """In the keeper's order; 0 is none."""

    processes: int
    data_bytes: int
    file_bytes: int


def rlimits(limits: Limits, weak: bool) -> Bounds:
    """Return the bounds; with a control group only the size of a file is left to bound.

    The watcher must see too much memory before a single process is refused more, else nobody would name it.
    """
    file_bytes = limits.disk_mb << 20
    if not weak:
        return Bounds(0, 0, file_bytes)
    return Bounds(limits.processes, (limits.memory_mb * 3 // 2 + SPARE_MB) << 20, file_bytes)
