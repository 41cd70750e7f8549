"""What every sandbox offers and what it is told; how a wall is built is each sandbox's own matter."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mldevbench.records import StopReason


@dataclass(frozen=True)
class Limits:
    """What one sandbox may use; going over one is the doing of whoever runs inside."""

    memory_mb: int = 4096
    processes: int = 512
    disk_mb: int = 2048  # the workspace
    tmp_mb: int = 512  # each tmpfs: /tmp, /dev/shm
    output_mb: int = 64  # what all commands together may print before it is a breach of its own per command
    files: int = 200_000  # inodes of the workspace


@dataclass(frozen=True)
class Bind:
    """A named host path, visible inside and read-only."""

    source: Path
    target: str


@dataclass(frozen=True)
class SandboxSpec:
    """All that a sandbox is built from."""

    workspace: Path  # the one writable folder; belongs to the inner user while the sandbox lives
    readonly: tuple[Bind, ...] = ()  # task data and the like; the task venv is added by `venv`
    sockets: tuple[Bind, ...] = ()  # unix sockets: gateway
    doors: tuple[int, ...] = ()  # ports of its own loopback on which we answer: mirror, egress
    venv: Path | None = None  # the task venv; its bin is first on PATH
    agent_venv: Path | None = None  # a third-party agent's own; not on PATH
    environment: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    gpus: tuple[int, ...] = ()  # minors of the reserved GPUs; none otherwise


@dataclass(frozen=True)
class Finished:
    """How a command ended; `output` is stdout and stderr together, head and tail of it if it was long."""

    exit_code: int | None  # None: it was stopped by the time-out
    output: bytes
    output_bytes: int  # of all of it
    seconds: float
    timed_out: bool = False


def thread_count(cpus: float) -> dict[str, str]:
    """Return the variables that keep numerical libraries to the CPUs that are reserved."""
    return {"OMP_NUM_THREADS": str(max(1, int(cpus)))}


class Sandbox(Protocol):
    """A live sandbox: processes started by one command live on until `close`."""

    isolation: str
    inside: str  # the workspace's path as it is seen inside

    def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        keep_bytes: int = 65_536,
        environment: Mapping[str, str] | None = None,
        stop: threading.Event | None = None,
    ) -> Finished:
        """Run a command in the workspace and wait for its end, not for the end of what it left behind.

        It is ended when its time is up, or when `stop` is set from elsewhere.
        """
        ...

    def spawn(self, argv: Sequence[str], *, log: str) -> int:
        """Start a command in the background, its output in the workspace file `log`; return its pid inside."""
        ...

    def freeze(self) -> None: ...

    def thaw(self) -> None: ...

    def breach(self) -> StopReason | None:
        """Return the limit that was broken so far, if any; the sandbox ends itself on a breach."""
        ...

    def close(self) -> None:
        """End every process inside and wait until they are gone; the workspace then belongs to us again."""
        ...
