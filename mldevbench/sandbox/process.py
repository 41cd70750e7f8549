"""The weak sandbox: plain processes of our own user, found and ended by descent, mark and control group.

It hides nothing: files, network and other processes are as open to a command as they are to us.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

from mldevbench.sandbox import cgroup
from mldevbench.sandbox.bubblewrap import environment, keeper_command, make_passable
from mldevbench.sandbox.cage import Cage, Wall
from mldevbench.sandbox.cgroup import Cgroup
from mldevbench.sandbox.interpreter import behind
from mldevbench.sandbox.launch import KEEPER, Launched, Recipe, launch
from mldevbench.sandbox.protocol import SandboxSpec
from mldevbench.sandbox.rlimit import rlimits

MARK = "MLDEVBENCH_SANDBOX"
GENTLE_SECONDS = 10.0


def marked(mark: str) -> Iterator[int]:
    """Yield the processes that carry a mark in the environment they started with."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    yield int(folder.name)


def sweeper(mark: str, group: Cgroup | None) -> Callable[[Launched], None]:
    """Return the act of ending every process: by the keeper if it still can, then by what they carry."""

    def sweep(launched: Launched) -> None:
        with contextlib.suppress(OSError):
            launched.control.shutdown(socket.SHUT_WR)
            signal.pidfd_send_signal(launched.pidfd, signal.SIGCONT)
        launched.gone(GENTLE_SECONDS)
        for _ in range(100):
            left = {*marked(mark), *(group.members() if group else ())} - {os.getpid()}
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            if not left:
                return

    return sweep


def open_process(spec: SandboxSpec, *, cgroups: bool = True) -> Cage:
    """Open the weak sandbox on the workspace's real path."""
    spec.workspace.mkdir(parents=True, exist_ok=True)
    inside = str(spec.workspace.resolve())
    interpreter = behind(spec.venv)
    group = cgroup.make(spec.limits) if cgroups else None
    mark = secrets.token_hex(8)

    def argv(control: int) -> list[str]:
        bounds = rlimits(spec.limits, group is None)
        # Here a limit on processes would count those of our own user, neighbours and all.
        return keeper_command(interpreter.python, str(KEEPER), control, 0, inside, bounds._replace(processes=0))

    undo: list[Callable[[], None]] = [lambda: make_passable(spec.workspace)]
    if group is not None:
        undo.append(group.remove)
    try:
        launched = launch(Recipe(argv))
        launched.sweep = sweeper(mark, group)
        if group is not None:
            group.add(launched.pid)
    except BaseException:
        while undo:
            undo.pop()()
        raise
    variables = {**environment(spec, inside), "TMPDIR": f"{inside}/.home", MARK: mark}
    return Cage(spec, Wall("process", inside, variables, launched, None, group, undo))
