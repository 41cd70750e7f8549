"""A live sandbox around a keeper: commands, limits and the end, whatever program has built the wall."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mldevbench.errors import Fault
from mldevbench.records import StopReason
from mldevbench.sandbox.attendant import Attendant, Pending
from mldevbench.sandbox.capture import Capture
from mldevbench.sandbox.cgroup import Cgroup
from mldevbench.sandbox.launch import Launched
from mldevbench.sandbox.protocol import Finished, SandboxSpec
from mldevbench.sandbox.watch import Watch

GRACE_SECONDS = 10.0
ENDED_CODE = 137
LOOK_SECONDS = 0.1  # between looks whether a command is to be stopped


@dataclass
class Wall:
    """What stands around a keeper, and what to undo, last first, when it has gone."""

    isolation: str
    inside: str
    environment: Mapping[str, str]
    launched: Launched
    uid: int | None = None  # of the inmates, where it differs from ours
    cgroup: Cgroup | None = None
    undo: list[Callable[[], None]] = field(default_factory=list)


class Cage:
    """Implements `Sandbox`."""

    def __init__(self, spec: SandboxSpec, wall: Wall) -> None:
        self.isolation, self.inside = wall.isolation, wall.inside
        self.limits = "cgroup" if wall.cgroup else "weak"
        self.spec, self.wall = spec, wall
        self._breach: StopReason | None = None
        self._closing = False
        self._printed = 0
        self._lock = threading.RLock()
        self._attendant = Attendant(wall.launched.control, self.count_output, self._keeper_ended)
        self._watch = Watch(spec.limits, spec.workspace, wall.cgroup, self._attendant, self._broken)

    @property
    def listeners(self) -> tuple[socket.socket, ...]:
        """Our ends of the doors; none where the sandbox shares our loopback."""
        return self.wall.launched.listeners

    @property
    def pidfd(self) -> int:
        """The keeper, whose end is the end of everything inside."""
        return self.wall.launched.pidfd

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
        """Run a command in the workspace and wait for its end, not for the end of what it left behind."""
        started = time.monotonic()
        capture = Capture(keep_bytes)
        body = self._body("", argv, environment)
        read, write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(read, False)
        descriptors = [body, write] + ([in_memory(stdin)] if stdin else [])
        try:
            pending = self._order("run", descriptors, capture, read)
        finally:
            close_all(descriptors)
        return self.finish(pending, started, seconds, stop)

    def finish(self, pending: Pending, started: float, seconds: float, stop: threading.Event | None = None) -> Finished:
        """Wait for a command that has been ordered; end it when its time is up, or when we are told to."""
        timed_out = not _wait(pending.finished, seconds, stop)
        if timed_out:
            with contextlib.suppress(OSError):
                self._attendant.send("kill", pending.number)
            pending.finished.wait(GRACE_SECONDS)
        capture = pending.capture or Capture(1)
        code = None if timed_out else self._exit_code(pending.words, capture)
        self._note(self._watch.counters())
        return Finished(code, capture.result(), capture.total, time.monotonic() - started, timed_out)

    def spawn(self, argv: Sequence[str], *, log: str) -> int:
        """Start a command in the background, its output in the workspace file `log`; return its pid inside."""
        body = self._body(log, argv, None)
        try:
            pending = self._order("run", [body])
        finally:
            os.close(body)
        if not pending.started.wait(GRACE_SECONDS):
            raise Fault("sandbox_error", "the sandbox's keeper doesn't answer")
        if pending.words[0] in ("ended", "refused"):
            return 0
        return int(pending.words[0])

    def freeze(self) -> None:
        """Stop every process inside, so that files can be copied as they are at one moment."""
        if not self._order("freeze").finished.wait(GRACE_SECONDS):
            raise Fault("sandbox_error", "the sandbox's keeper doesn't answer")

    def thaw(self) -> None:
        self._order("thaw").finished.wait(GRACE_SECONDS)

    def breach(self) -> StopReason | None:
        """Return the limit that was broken so far, if any; the sandbox ends itself on a breach."""
        return self._breach

    def close(self) -> None:
        """End every process inside and wait until they are gone; the workspace then belongs to us again."""
        with self._lock:
            if self._closing:
                return
            self._note(self._watch.counters())
            self._closing = True
        self._kill()
        self._watch.stop()
        self._attendant.stop()
        if self._breach is None:
            self._breach = self._watch.counters() or self._watch.disk()
        self.wall.launched.close()
        while self.wall.undo:
            self.wall.undo.pop()()

    def __enter__(self) -> Cage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def order(self, kind: str, descriptors: Sequence[int], capture: Capture, pipe: int) -> Pending:
        return self._order(kind, descriptors, capture, pipe)

    def _order(
        self, kind: str, descriptors: Sequence[int] = (), capture: Capture | None = None, pipe: int | None = None
    ) -> Pending:
        if self._closing:
            raise Fault("sandbox_error", "the sandbox is closed")
        return self._attendant.order(kind, descriptors, capture, pipe)

    def _body(self, log: str, argv: Sequence[str], environment: Mapping[str, str] | None) -> int:
        variables = {**self.wall.environment, **(environment or {})}
        pairs = [f"{name}={value}" for name, value in variables.items()]
        return in_memory(os.fsencode("\0".join([log, str(len(pairs)), *pairs, *argv])))

    def _exit_code(self, words: list[str], capture: Capture) -> int:
        """Return a shell's view of how a command ended."""
        kind, *rest = words
        if kind == "exit":
            code = int(rest[0])
            return code if code >= 0 else 128 - code
        if kind == "refused":
            capture.add(f"cannot start: {os.strerror(int(rest[0]))}\n".encode())
            return 126
        reason = self._breach or "its processes were ended"
        capture.add(f"\n[the sandbox has ended: {reason}]\n".encode())
        return ENDED_CODE

    def count_output(self, size: int) -> None:
        self._printed += size
        if self._printed > self.spec.limits.output_mb << 20:
            self._broken(StopReason.OUTPUT)

    def _keeper_ended(self) -> None:
        """Name the reason: without a closed list of outside causes at hand it is the inmates' own doing."""
        with self._lock:
            if not self._closing and self._breach is None:
                watch = getattr(self, "_watch", None)
                self._breach = (watch and watch.counters()) or StopReason.AGENT_ERROR

    def _note(self, reason: StopReason | None) -> None:
        if reason is not None:
            self._broken(reason)

    def _broken(self, reason: StopReason) -> None:
        with self._lock:
            if self._closing or self._breach is not None:
                return
            self._breach = reason
        self._kill()

    def _kill(self) -> None:
        """End the keeper, and with it all that is inside, and wait until the kernel says that it is so."""
        self.wall.launched.kill()


def _wait(finished: threading.Event, seconds: float, stop: threading.Event | None) -> bool:
    """Wait for the end of a command; False if something else came first."""
    if stop is None:
        return finished.wait(seconds)
    deadline = time.monotonic() + seconds
    while not finished.wait(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic()))):
        if stop.is_set() or time.monotonic() >= deadline:
            return False
    return True


def in_memory(data: bytes) -> int:
    """Return a descriptor that reads these bytes, however many, without anybody writing meanwhile."""
    descriptor = os.memfd_create("data", os.MFD_CLOEXEC)
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    readable = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
    os.close(descriptor)
    return readable


def close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
