"""Starts sandbox programs from one thread that lives as long as the process.

A parent-death signal follows the thread that forked: a program started from a pool's thread would die with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import platform
import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path

KEYCTL = {"x86_64": 250, "aarch64": 219}
JOIN_SESSION_KEYRING = 1


@dataclass(frozen=True)
class Start:
    """A program to start with nothing but these arguments, variables and descriptors."""

    argv: Sequence[str]
    descriptors: Sequence[int]
    stderr: int
    environment: tuple[tuple[str, str], ...] = ()


def _fresh_session_keyring() -> None:
    """Give this thread, and so the next child, a session keyring that nobody else holds."""
    number = KEYCTL.get(platform.machine())
    if number is not None:
        ctypes.CDLL(None).syscall(ctypes.c_long(number), ctypes.c_long(JOIN_SESSION_KEYRING), None)


def _start(order: Start) -> subprocess.Popen[bytes]:
    _fresh_session_keyring()
    return subprocess.Popen(
        order.argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=order.stderr,
        env=dict(order.environment),
        cwd="/",
        close_fds=True,
        pass_fds=tuple(order.descriptors),
    )


def _serve(orders: queue.SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]]) -> None:
    while True:
        order, future = orders.get()
        try:
            future.set_result(_start(order))
        except BaseException as error:
            future.set_exception(error)


@functools.cache
def _orders(pid: int) -> queue.SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]]:
    """Return the queue of this process's starting thread; a forked copy has none and makes its own."""
    orders: queue.SimpleQueue[tuple[Start, Future[subprocess.Popen[bytes]]]] = queue.SimpleQueue()
    threading.Thread(target=_serve, args=(orders,), name=f"sandbox-starter-{pid}", daemon=True).start()
    return orders


def start(order: Start) -> subprocess.Popen[bytes]:
    """Start a program; it dies with this process, not with the calling thread."""
    future: Future[subprocess.Popen[bytes]] = Future()
    _orders(os.getpid()).put((order, future))
    return future.result()


def end(program: subprocess.Popen[bytes]) -> None:
    """End a program and its children: one that was still waiting for its parent would wait for ever."""
    if program.poll() is None:
        program.send_signal(signal.SIGSTOP)
        for pid in children(program.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        program.kill()
    program.wait()


def children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(word) for word in text.split()]
