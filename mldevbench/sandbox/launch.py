"""Starts the program that builds a wall and waits until the keeper inside it says that it is ready."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from mldevbench.errors import Fault
from mldevbench.sandbox.starter import Start, end, start

KEEPER = Path(__file__).parent / "inside" / "keeper.py"
READY_SECONDS = 60.0
MOST_DOORS = 4


@dataclass
class Launched:
    """A keeper that is ready: its control socket, itself, and the program around it."""

    control: socket.socket
    pidfd: int
    program: subprocess.Popen[bytes]
    listeners: tuple[socket.socket, ...] = ()  # of the doors that were asked for
    sweep: Callable[[Launched], None] | None = None  # where the keeper's end is not the end of all

    @property
    def pid(self) -> int:
        """The keeper's pid as seen from here."""
        text = Path(f"/proc/self/fdinfo/{self.pidfd}").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pid:"))

    def kill(self) -> None:
        """End the keeper and wait for it; process 1 is gone only when its whole namespace is."""
        if self.sweep is not None:
            self.sweep(self)
        try:
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        except PermissionError:  # another user's, in a container: the end of the socket ends it too
            with contextlib.suppress(OSError):
                self.control.shutdown(socket.SHUT_WR)
        except ProcessLookupError:
            pass
        if not self.gone(60):
            raise Fault("sandbox_error", "a process of the sandbox can't be ended")
        if self.sweep is not None:
            self.sweep(self)

    def gone(self, seconds: float) -> bool:
        """Wait for the keeper's end."""
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def abandon(self) -> None:
        """End it all before anybody was let in."""
        self.kill()
        self.control.close()
        self.close()

    def close(self) -> None:
        """Collect the program outside; the keeper has gone."""
        for listener in self.listeners:
            listener.close()
        try:
            self.program.wait(10)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.wait()
        os.close(self.pidfd)


@dataclass(frozen=True)
class Recipe:
    """How to start a program, once it is known which descriptor the keeper will speak through."""

    argv: Callable[[int], Sequence[str]]
    descriptors: Sequence[int] = ()
    environment: tuple[tuple[str, str], ...] = ()


def launch(recipe: Recipe) -> Launched:
    """Start the program and wait for the keeper's first word."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    complaints, stderr = os.pipe2(os.O_CLOEXEC)
    try:
        program = start(
            Start(recipe.argv(theirs.fileno()), [theirs.fileno(), *recipe.descriptors], stderr, recipe.environment)
        )
    except OSError as error:
        ours.close()
        raise Fault("sandbox_error", f"the sandbox program can't be started: {error}") from error
    finally:
        theirs.close()
        os.close(stderr)
    try:
        pidfd, *listeners = wait_ready(ours, complaints)
        return Launched(ours, pidfd, program, listening(listeners))
    except BaseException:
        ours.close()
        end(program)
        raise
    finally:
        os.close(complaints)


def listening(descriptors: Sequence[int]) -> tuple[socket.socket, ...]:
    return tuple(socket.socket(fileno=descriptor) for descriptor in descriptors)


def wait_ready(control: socket.socket, complaints: int) -> list[int]:
    """Return the keeper's pidfd and its listeners, or raise with what was complained about instead."""
    control.settimeout(READY_SECONDS)
    try:
        data, descriptors, _, _ = socket.recv_fds(control, 64, MOST_DOORS + 1)
    except (TimeoutError, ConnectionError):
        data, descriptors = b"", []
    control.settimeout(None)
    if data == b"ready" and descriptors:
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        return list(descriptors)
    os.set_blocking(complaints, False)
    with contextlib.suppress(BlockingIOError):
        data = os.read(complaints, 4096)
    lines = data.decode(errors="replace").strip().splitlines()
    raise Fault("sandbox_error", f"the sandbox didn't start: {lines[-1] if lines else 'no reason given'}")
