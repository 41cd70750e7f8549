"""Warm calls: a process with torch imported, itself behind a wall, forks children into sandboxes.

It serves untrusted calls only. Children share its address layout, so it is no place for anything secret.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from mldevbench.errors import Fault
from mldevbench.sandbox import seccomp
from mldevbench.sandbox.bubblewrap import INNER_ID, Arguments, MakeCage, open_bubblewrap, program, python, system
from mldevbench.sandbox.cage import Cage, close_all, in_memory
from mldevbench.sandbox.capture import Capture
from mldevbench.sandbox.interpreter import behind
from mldevbench.sandbox.protocol import Finished, SandboxSpec
from mldevbench.sandbox.rlimit import rlimits
from mldevbench.sandbox.starter import Start, children, end, start

SOURCE = Path(__file__).parent / "inside" / "zygote.py"
SOURCE_INSIDE = "/run/zygote.py"
WARM_UP_SECONDS = 120.0


def arguments(venv: Path, *, root: bool) -> Arguments:
    """Return bwrap's arguments for the zygote: libraries read-only, no network, and its privileges kept.

    It stays in our process namespace, since a namespace can only be entered from one above it.
    """
    result = Arguments()
    if not root:
        result.add("--unshare-user", "--uid", str(INNER_ID), "--gid", str(INNER_ID), "--cap-add", "ALL")
    result.add("--unshare-ipc", "--unshare-uts", "--unshare-net", "--die-with-parent", "--new-session")
    result.add("--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom")
    result.add("--bind", "/proc", "/proc", "--perms", "1777", "--size", str(64 << 20), "--tmpfs", "/tmp")
    interpreter = behind(venv)
    system(result, interpreter)
    python(result, interpreter, venv)
    result.content(SOURCE.read_bytes(), SOURCE_INSIDE)
    for target in (*result.masks, "/"):
        result.add("--remount-ro", target)
    return result


class Zygote:
    """One warm process per task environment; `run` falls back to a fresh Python when it is not there."""

    def __init__(self, venv: Path) -> None:
        self.venv = venv
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._userns: int | None = None
        self._ready: bool | None = None
        self._program = self._start(theirs)

    def _start(self, theirs: socket.socket) -> subprocess.Popen[bytes] | None:
        bwrap = program()
        root = os.geteuid() == 0
        null = os.open(os.devnull, os.O_WRONLY)
        built = arguments(self.venv, root=root)
        try:
            if bwrap is None:
                return None
            command = [f"{self.venv}/bin/python", "-IB", SOURCE_INSIDE, str(theirs.fileno())]
            descriptors = [theirs.fileno(), *built.descriptors]
            return start(Start([bwrap, *built.words, "--", *command], descriptors, null))
        finally:
            theirs.close()
            os.close(null)
            close_all(built.descriptors)

    def ready(self, seconds: float = WARM_UP_SECONDS) -> bool:
        """Wait until the imports are done; False if it can't be had."""
        with self._lock:
            if self._ready is None:
                self._ready = self._program is not None and self._hear_ready(seconds)
            return self._ready

    def _hear_ready(self, seconds: float) -> bool:
        self._control.settimeout(seconds)
        try:
            if self._control.recv(16) != b"ready":
                return False
            if os.geteuid() != 0:
                self._userns = self._user_namespace()
        except OSError:
            return False
        self._control.settimeout(None)
        return True

    def _user_namespace(self) -> int:
        """Return the user namespace of the zygote, which cages must share so that it may enter them."""
        assert self._program is not None
        child = next(iter(children(self._program.pid)), self._program.pid)
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)

    def open(self, spec: SandboxSpec, *, cgroups: bool = True, kind: MakeCage = Cage) -> Cage:
        """Open a sandbox that warm calls can enter: one per submission."""
        return open_bubblewrap(spec, cgroups=cgroups, userns=self._userns if self.ready() else None, kind=kind)

    def run(
        self,
        cage: Cage,
        script: str,
        arguments: Sequence[str] = (),
        *,
        seconds: float,
        stdin: bytes = b"",
        keep_bytes: int = 65_536,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a Python script of the sandbox as `cage.run(["python", script, …])` would, but warm."""
        if cage.isolation != "bubblewrap" or not self.ready():
            return self._cold(cage, script, arguments, seconds, stdin, keep_bytes, environment)
        started = time.monotonic()
        variables = {**cage.wall.environment, **(environment or {})}
        call = Call(cage, Capture(keep_bytes))
        try:
            call.send(self._control, request(cage, script, arguments, variables), stdin)
            return call.finish(started, seconds)
        except (NotEntered, OSError) as error:
            if call.going:  # the submission has run, and it runs once
                raise Fault("sandbox_error", f"a warm call broke off: {error}") from error
            self._ready = self._alive()
            return self._cold(cage, script, arguments, seconds, stdin, keep_bytes, environment)
        finally:
            call.close()

    def _alive(self) -> bool:
        """Whether the zygote itself is there; a call also fails when its sandbox has just ended."""
        poll = select.poll()
        poll.register(self._control.fileno(), 0)
        return not poll.poll(0)

    def _cold(
        self,
        cage: Cage,
        script: str,
        arguments: Sequence[str],
        seconds: float,
        stdin: bytes,
        keep_bytes: int,
        environment: Mapping[str, str] | None,
    ) -> Finished:
        argv = ["python", script, *arguments]
        return cage.run(argv, seconds=seconds, stdin=stdin, keep_bytes=keep_bytes, environment=environment)

    def close(self) -> None:
        self._control.close()
        if self._program is not None:
            end(self._program)
        if self._userns is not None:
            os.close(self._userns)
            self._userns = None
        self._ready = False

    def __enter__(self) -> Zygote:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def request(cage: Cage, script: str, arguments: Sequence[str], variables: Mapping[str, str]) -> bytes:
    """Return the body of a call, which only the fork that makes it reads."""
    inner = cage.wall.uid if cage.wall.uid is not None else INNER_ID
    bounds = rlimits(cage.spec.limits, cage.wall.cgroup is None)
    pairs = [f"{name}={value}" for name, value in variables.items()]
    words = [inner, inner, *bounds, cage.inside, script, len(pairs), *pairs, *arguments]
    return os.fsencode("\0".join(map(str, words))) + b"\0\0" + seccomp.program()


class NotEntered(Exception):
    """The fork could not enter the sandbox; nothing of the submission has run."""


class Call:
    """One child from its fork to its end."""

    def __init__(self, cage: Cage, capture: Capture) -> None:
        self.cage, self.capture = cage, capture
        self.entered = self.going = False
        self.status, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.output, self._write = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.output, False)

    def send(self, control: socket.socket, body: bytes, stdin: bytes) -> None:
        descriptors = [in_memory(body), self.cage.pidfd, self._theirs.fileno(), self._write, in_memory(stdin)]
        try:
            socket.send_fds(control, [b"!"], descriptors)
        finally:
            close_all([descriptors[0], descriptors[4], self._write])
            self._theirs.close()

    def finish(self, started: float, seconds: float) -> Finished:
        """Let the child go on once it is in the control group; read until it ends or its time is up."""
        code, timed_out = self._follow(started + seconds)
        return Finished(code, self.capture.result(), self.capture.total, time.monotonic() - started, timed_out)

    def _follow(self, deadline: float) -> tuple[int | None, bool]:
        poll = select.poll()
        poll.register(self.status.fileno(), select.POLLIN)
        poll.register(self.output, select.POLLIN)
        timed_out = False
        while True:
            left = deadline - time.monotonic()
            if left <= 0 and not timed_out:
                timed_out = True
                with contextlib.suppress(OSError):
                    self.status.send(b"stop")
            ready = [descriptor for descriptor, _ in poll.poll(max(left, 0.2) * 1000)]
            if self.output in ready and not self._pump():
                poll.unregister(self.output)
            if self.status.fileno() in ready:
                ended, code = self._hear()
                if ended:
                    self._pump(1 << 20)
                    return (None if timed_out else code), timed_out
            if timed_out and time.monotonic() > deadline + 30:
                raise Fault("sandbox_error", "a warm call can't be ended")

    def _hear(self) -> tuple[bool, int]:
        """Return whether the child has ended, and its exit code as a shell sees it."""
        try:
            data, descriptors, _, _ = socket.recv_fds(self.status, 64, 1)
        except ConnectionResetError:  # it ended before it read our "stop"; what it said is still there
            data, descriptors, _, _ = socket.recv_fds(self.status, 64, 1)
        if data == b"child":
            self.entered = True
            try:
                self._admit(descriptors[0])
            finally:
                close_all(descriptors)
            return False, 0
        if not data and not self.entered:
            raise NotEntered
        if not data:
            self.capture.add(b"\n[the call has ended: its processes were ended]\n")
            return True, 137
        code = int(data.split()[1])
        return True, code if code >= 0 else 128 - code

    def _admit(self, pidfd: int) -> None:
        group = self.cage.wall.cgroup
        if group is not None:
            text = Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="ascii")
            group.add(next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pid:")))
        self.status.send(b"go")
        self.going = True

    def _pump(self, most: int = 1 << 16) -> bool:
        """Read what is there; False at the end of the output."""
        taken = 0
        while taken < most:
            try:
                data = os.read(self.output, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            taken += len(data)
            self.capture.add(data)
            self.cage.count_output(len(data))
        return True

    def close(self) -> None:
        self.status.close()
        os.close(self.output)
