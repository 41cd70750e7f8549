"""Watches one sandbox's limits from outside and names the first one that is broken."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mldevbench.records import StopReason
from mldevbench.sandbox.attendant import Attendant
from mldevbench.sandbox.cgroup import Cgroup
from mldevbench.sandbox.disk import measure
from mldevbench.sandbox.protocol import Limits

POLL_SECONDS = 0.1
SCAN_SECONDS = 0.25
SCAN_SHARE = 10  # a scan may take one part in ten of a core
REFUSED_FORKS = 10  # one thread too many is a mistake, ten refusals are a bomb
FULL_POLLS = 3


class Usage(NamedTuple):
    """What the keeper sees, in the order in which it says it."""

    tasks: int
    memory: int  # bytes
    inodes: int  # on the temporary file systems
    disk: int  # bytes of open files that have no name


class Watch:
    """Polls until a limit is broken or the sandbox ends."""

    def __init__(
        self,
        limits: Limits,
        workspace: Path,
        cgroup: Cgroup | None,
        attendant: Attendant,
        broken: Callable[[StopReason], None],
    ) -> None:
        self.limits, self.workspace, self.cgroup = limits, workspace, cgroup
        self._attendant, self._broken = attendant, broken
        self._stop = threading.Event()
        self._full_polls = 0
        self._next_scan = 0.0
        self._thread = threading.Thread(target=self._serve, name="sandbox-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(60)

    def counters(self) -> StopReason | None:
        """Return what the kernel has counted against the sandbox; cheap."""
        if self.cgroup is None:
            return None
        if self.cgroup.memory_kills():
            return StopReason.MEMORY
        return StopReason.PROCESSES if self.cgroup.refused_forks() >= REFUSED_FORKS else None

    def disk(self, nameless: int = 0) -> StopReason | None:
        """Return whether the workspace holds too much, with what is open there but has no name any more."""
        try:
            found = measure(self.workspace, self.limits.files)
        except OSError:
            return None
        full = found.size + nameless >= self.limits.disk_mb << 20 or found.files > self.limits.files
        return StopReason.DISK if full or found.too_deep else None

    def _serve(self) -> None:
        while not self._stop.wait(POLL_SECONDS):
            reason = self.counters() or self._usage() or self._scan()
            if reason is not None:
                self._broken(reason)
                return

    def _scan(self) -> StopReason | None:
        started = time.monotonic()
        if started < self._next_scan:
            return None
        usage = self._ask()
        reason = self.disk(usage.disk if usage else 0)
        ended = time.monotonic()
        self._next_scan = ended + max(SCAN_SECONDS, SCAN_SHARE * (ended - started))
        return reason

    def _usage(self) -> StopReason | None:
        """Ask the keeper, where no control group counts."""
        usage = self._ask() if self.cgroup is None else None
        if usage is None:
            return None
        self._full_polls = self._full_polls + 1 if usage.tasks >= self.limits.processes - 1 else 0
        if usage.memory > self.limits.memory_mb << 20:
            return StopReason.MEMORY
        if usage.inodes > self.limits.files:
            return StopReason.DISK
        return StopReason.PROCESSES if self._full_polls >= FULL_POLLS else None

    def _ask(self) -> Usage | None:
        answer = self._attendant.order("usage")
        if not answer.finished.wait(5) or answer.words[0] != "usage":
            return None
        return Usage(*map(int, answer.words[1:]))
