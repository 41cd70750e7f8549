"""What an actor says of its place before it is given work: where it is, whether the node and itself are fit."""

from __future__ import annotations

import platform
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mldevbench import __version__

LEAST_FREE_GB = 1.0
MOST_PIECES = 100
MOST_GROWTH_MB = 1024.0
ABSENT = ("", "Z", "X")  # states of processes that do nothing any more


@dataclass(frozen=True)
class Versions:
    """What must be the same on every node."""

    python: str
    ray: str
    mldevbench: str


@dataclass(frozen=True)
class Berth:
    node: str
    host: str
    complaint: str = ""  # why no run may start on this node
    worn: str = ""  # why this actor should be replaced by a fresh one


def versions_here() -> Versions:
    from importlib.metadata import version

    return Versions(".".join(platform.python_version_tuple()[:2]), version("ray"), __version__)


def complaint_of(isolation: str, scratch: Path, expected: Versions | None) -> str:
    """Return what this node lacks for a run, with the remedy, or nothing."""
    here = versions_here()
    if expected is not None and here != expected:
        return f"has {_told(here)}, the driver {_told(expected)}; install the same on every node"
    return _sandbox(isolation) or _disk(scratch)


def _told(versions: Versions) -> str:
    return f"Python {versions.python}, Ray {versions.ray}, mldevbench {versions.mldevbench}"


def _sandbox(isolation: str) -> str:
    from mldevbench import task_venv
    from mldevbench.errors import UserError
    from mldevbench.sandbox.opening import available

    if isolation and (why := available(isolation)):
        return f"sandbox {isolation} doesn't work there: {why}"
    try:
        task_venv.path()
    except UserError as error:
        return str(error)
    return ""


def _disk(scratch: Path) -> str:
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        probe = scratch / ".writable"
        probe.write_bytes(b"")
        probe.unlink(missing_ok=True)
        free = shutil.disk_usage(scratch).free / 1e9
    except OSError as error:
        return f"scratch folder {scratch} can't be written ({error.strerror}); choose another with --scratch"
    if free < LEAST_FREE_GB:
        return f"scratch folder {scratch} has only {free:.2f} GB free; make room or choose another with --scratch"
    return ""


def memory_mb() -> float:
    """Return how much memory this process holds."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


@dataclass
class Wear:
    """What an actor has been through; use as a context manager around each piece of work."""

    pieces: int = 0
    broke: bool = False
    first_mb: float = 0.0

    def __enter__(self) -> Wear:
        self.first_mb = self.first_mb or memory_mb()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.pieces += 1
        self.broke = self.broke or kind is not None


def worn(wear: Wear, left_behind: list[str], now_mb: float | None = None) -> str:
    """Say why an actor should not be used again, or nothing."""
    growth_mb = (memory_mb() if now_mb is None else now_mb) - (wear.first_mb or float("inf"))
    if wear.broke:
        return "its last work ended in an error"
    if left_behind:
        return f"something of its last run still lives: {left_behind[0]}"
    if wear.pieces >= MOST_PIECES:
        return f"it has done {wear.pieces} pieces of work"
    if growth_mb > MOST_GROWTH_MB:
        return f"it has grown by {growth_mb:.0f} MB"
    return ""


def children() -> list[str]:
    """Return this process's living children by their names."""
    found = []
    for thread in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            for pid in (thread / "children").read_text(encoding="ascii").split():
                state = state_of(int(pid))
                found += [state.name] if state.letter not in ABSENT else []
    return found


class State(NamedTuple):
    letter: str  # as the kernel calls it; none: there is no such process
    name: str


def state_of(pid: int) -> State:
    try:
        head, tail = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)
    except OSError:
        return State("", "")
    return State(tail.split()[0], head.split("(", 1)[1])
