"""Limits of a sandbox by control group, version 2 or 1, below the group that this process is in.

Where none can be made, limits are weak: the kernel's limits per process, and a watcher.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from mldevbench.sandbox.protocol import Limits

MOUNTS = Path("/proc/self/mountinfo")
PREFIX = "sandbox-"
STALE_SECONDS = 600.0
MEMBERSHIP = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class Hierarchy:
    """One mounted hierarchy and the folder in it that we are in."""

    version: int
    controllers: frozenset[str]
    folder: Path


@dataclass(frozen=True)
class Cgroup:
    """The folders of one sandbox: one in version 2, one per controller in version 1."""

    version: int
    memory: Path
    processes: Path

    @property
    def folders(self) -> tuple[Path, ...]:
        return tuple(dict.fromkeys((self.memory, self.processes)))

    def add(self, pid: int) -> None:
        for folder in self.folders:
            (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")

    def members(self) -> list[int]:
        text = (self.processes / "cgroup.procs").read_text(encoding="ascii")
        return [int(line) for line in text.split()]

    def memory_kills(self) -> int:
        """Return how often the kernel ended a process here for want of memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return _counter(self.memory / name, "oom_kill")

    def refused_forks(self) -> int:
        return _counter(self.processes / "pids.events", "max")

    def remove(self, seconds: float = 5.0) -> None:
        """Remove the folders; a member's last moments may keep them busy for a little."""
        deadline = time.monotonic() + seconds
        for folder in self.folders:
            while folder.exists() and time.monotonic() < deadline:
                with contextlib.suppress(OSError):
                    folder.rmdir()
                    break
                time.sleep(0.002)


def _counter(file: Path, name: str) -> int:
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(value) for key, value in (line.split() for line in lines) if key == name), 0)


def hierarchies(mounts: str, membership: str) -> list[Hierarchy]:
    """Return where we are in each hierarchy that is mounted."""
    places = [line.split(":", 2) for line in membership.splitlines() if line.count(":") >= 2]
    found: list[Hierarchy] = []
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        root, point = left.split()[3:5]
        kind, _, options = right.split(None, 2)
        for number, names, place in places:
            version = 2 if number == "0" else 1
            if (kind == "cgroup2") != (version == 2) or not kind.startswith("cgroup"):
                continue
            controllers = frozenset(names.split(","))
            if version == 1 and not controllers & set(options.split(",")):
                continue
            inner = place.removeprefix(root.rstrip("/")).lstrip("/")
            found.append(Hierarchy(version, controllers, Path(point) / inner))
    return found


def _write(file: Path, value: str) -> bool:
    try:
        file.write_text(value, encoding="ascii")
    except OSError:
        return False
    return True


def _words(file: Path) -> set[str]:
    try:
        return set(file.read_text(encoding="ascii").split())
    except OSError:
        return set()


def _delegates(folder: Path) -> bool:
    """Whether children of a version 2 group have memory and process limits, or can be given them."""
    wanted = {"memory", "pids"}
    if wanted <= _words(folder / "cgroup.subtree_control"):
        return True
    enabled = wanted <= _words(folder / "cgroup.controllers") and _write(
        folder / "cgroup.subtree_control", "+memory +pids"
    )
    return enabled and wanted <= _words(folder / "cgroup.subtree_control")


def _version_2(places: list[Hierarchy], name: str, limits: Limits) -> Cgroup | None:
    for place in (each for each in places if each.version == 2):
        # A group with processes can't delegate, but a sibling may be possible: the parent's child.
        for folder in (place.folder, place.folder.parent):
            if not _delegates(folder):
                continue
            child = folder / name
            with contextlib.suppress(OSError):
                child.mkdir()
                _write(child / "memory.swap.max", "0")
                _write(child / "memory.oom.group", "1")
                if _write(child / "memory.max", str(limits.memory_mb << 20)) and _write(
                    child / "pids.max", str(limits.processes)
                ):
                    return Cgroup(2, child, child)
                child.rmdir()
    return None


def _version_1(places: list[Hierarchy], name: str, limits: Limits) -> Cgroup | None:
    homes = {
        wanted: place.folder
        for place in places
        for wanted in ("memory", "pids")
        if place.version == 1 and wanted in place.controllers
    }
    if set(homes) != {"memory", "pids"}:
        return None
    group = Cgroup(1, homes["memory"] / name, homes["pids"] / name)
    try:
        for folder in group.folders:
            folder.mkdir()
        (group.memory / "memory.limit_in_bytes").write_text(str(limits.memory_mb << 20), encoding="ascii")
        _write(group.memory / "memory.memsw.limit_in_bytes", str(limits.memory_mb << 20))
        (group.processes / "pids.max").write_text(str(limits.processes), encoding="ascii")
    except OSError:
        group.remove(0.1)
        return None
    return group


def _remove_stale(folder: Path) -> None:
    """Remove what supervisors that were killed have left: groups of ours that are old and have no member."""
    for child in folder.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - child.stat().st_ctime > STALE_SECONDS:
                child.rmdir()


def make(limits: Limits) -> Cgroup | None:
    """Make a group for one sandbox, or return None where this machine doesn't let us."""
    places = hierarchies(MOUNTS.read_text(encoding="utf-8"), MEMBERSHIP.read_text(encoding="utf-8"))
    for folder in {place.folder for place in places} | {place.folder.parent for place in places if place.version == 2}:
        _remove_stale(folder)
    name = PREFIX + secrets.token_hex(8)
    return _version_2(places, name, limits) or _version_1(places, name, limits)
