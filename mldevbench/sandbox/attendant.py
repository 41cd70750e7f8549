"""The supervisor's side of a keeper's control socket: orders out, answers and output in, on one thread."""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import select
import socket
import threading
from collections.abc import Callable, Sequence

from mldevbench.sandbox.capture import Capture

CHUNK = 1 << 16
LAST_READ = 1 << 20  # of what is in the pipe when a command has ended; others may go on writing to it


class Pending:
    """One order and what has come back of it so far."""

    def __init__(self, number: int, capture: Capture | None = None, pipe: int | None = None) -> None:
        self.number = number
        self.capture = capture
        self.pipe = pipe
        self.words: list[str] = []
        self.started = threading.Event()
        self.finished = threading.Event()

    def settle(self, words: list[str]) -> None:
        self.words = words
        self.started.set()
        self.finished.set()


class Attendant:
    """Talks to one keeper until its socket ends."""

    def __init__(self, control: socket.socket, printed: Callable[[int], None], ended: Callable[[], None]) -> None:
        self.control = control
        self._printed, self._ended = printed, ended
        self._numbers = itertools.count(1)
        self._pending: dict[int, Pending] = {}
        self._pipes: dict[int, Pending | None] = {}
        self._new_pipes: queue.SimpleQueue[Pending] = queue.SimpleQueue()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._lock = threading.Lock()
        self._over = False
        self._poll = select.epoll()
        self._thread = threading.Thread(target=self._serve, name="sandbox-attendant", daemon=True)
        self._thread.start()

    def order(
        self, kind: str, descriptors: Sequence[int] = (), capture: Capture | None = None, pipe: int | None = None
    ) -> Pending:
        """Send an order; its answer settles what is returned, and so does the keeper's end."""
        pending = Pending(next(self._numbers), capture, pipe)
        with self._lock:
            if self._over:
                if pipe is not None:
                    os.close(pipe)
                pending.settle(["ended"])
                return pending
            self._pending[pending.number] = pending
            if pipe is not None:
                self._new_pipes.put(pending)
            os.eventfd_write(self._wake, 1)
            try:
                self.send(kind, pending.number, descriptors)
            except OSError:
                pending.settle(["ended"])
        return pending

    def send(self, kind: str, number: int, descriptors: Sequence[int] = ()) -> None:
        socket.send_fds(self.control, [f"{kind} {number}".encode()], list(descriptors))

    def stop(self) -> None:
        """Wait for the thread's end, after the keeper's; what is still open is closed."""
        self._thread.join(10)
        self.control.close()

    def _serve(self) -> None:
        self._poll.register(self.control.fileno(), select.EPOLLIN)
        self._poll.register(self._wake, select.EPOLLIN)
        try:
            while self._turn():
                pass
        finally:
            self._finish()

    def _turn(self) -> bool:
        """Handle what is ready; False when the keeper has gone."""
        ready = [descriptor for descriptor, _ in self._poll.poll()]
        while not self._new_pipes.empty():
            pending = self._new_pipes.get()
            assert pending.pipe is not None
            self._pipes[pending.pipe] = pending
            self._poll.register(pending.pipe, select.EPOLLIN)
        for descriptor in ready:
            if descriptor == self._wake:
                os.eventfd_read(self._wake)
            elif descriptor in self._pipes:
                self._pump(descriptor)
        return self.control.fileno() not in ready or self._hear()

    def _hear(self) -> bool:
        try:
            data = self.control.recv(4096)
        except OSError:
            return False
        if not data:
            return False
        kind, number, *words = data.decode().split()
        pending = self._pending.get(int(number))
        if pending is None:
            return True
        if kind == "pid":
            pending.words = words
            pending.started.set()
            return True
        del self._pending[int(number)]
        self._last_read(pending)
        pending.settle([kind, *words])
        return True

    def _pump(self, pipe: int) -> int:
        """Read once from a pipe; return how much came, and forget a pipe that has ended."""
        try:
            data = os.read(pipe, CHUNK)
        except BlockingIOError:
            return 0
        if not data:
            del self._pipes[pipe]
            # Closing alone doesn't: a process that another thread is just starting may hold the pipe open.
            with contextlib.suppress(FileNotFoundError):
                self._poll.unregister(pipe)
            os.close(pipe)
            return 0
        pending = self._pipes[pipe]
        if pending is not None and pending.capture is not None:
            pending.capture.add(data)
        self._printed(len(data))
        return len(data)

    def _last_read(self, pending: Pending) -> None:
        """Take what a command left in its pipe; from then on what its children print is thrown away."""
        taken = 0
        while self._owns_pipe(pending) and taken < LAST_READ:
            assert pending.pipe is not None
            size = self._pump(pending.pipe)
            if not size:
                break
            taken += size
        if self._owns_pipe(pending):
            assert pending.pipe is not None
            self._pipes[pending.pipe] = None

    def _owns_pipe(self, pending: Pending) -> bool:
        """Whether the number is still this command's: a closed pipe's may belong to the next one by now."""
        return pending.pipe is not None and self._pipes.get(pending.pipe) is pending

    def _finish(self) -> None:
        self._ended()
        with self._lock:
            self._over = True
            os.close(self._wake)
        while not self._new_pipes.empty():
            pending = self._new_pipes.get()
            if pending.pipe is not None:
                self._pipes[pending.pipe] = pending
        for pending in self._pending.values():
            self._last_read(pending)
            pending.settle(["ended"])
        for pipe in self._pipes:
            os.close(pipe)
        self._poll.close()
