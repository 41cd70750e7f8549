"""A process that has imported torch and nothing else, and forks a child into a sandbox for each call.

It never reads a request: the fork does, so nothing of one call is in the memory of the next. Its own memory is
open to every child: it must never hold anything but libraries.
"""

from __future__ import annotations

import ctypes
import gc
import os
import random
import resource
import runpy
import select
import signal
import socket
import sys
import traceback
from pathlib import Path
from typing import NoReturn

LIBC = ctypes.CDLL(None, use_errno=True)
NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
SET_PDEATHSIG, SET_DUMPABLE, SET_SECCOMP, BOUNDING_DROP, NO_NEW_PRIVS, AMBIENT = 1, 4, 22, 24, 38, 47
DESCRIPTORS = 5  # body, sandbox, status, output, input


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def prctl(option: int, argument: int, pointer: object = None) -> None:
    """Call prctl and insist that it works."""
    zero = ctypes.c_ulong(0)
    if LIBC.prctl(option, ctypes.c_ulong(argument), pointer or zero, zero, zero):
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def warm_up() -> None:
    """Import what calls need; one thread only, since a parallel region would hang every fork."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # which are read once, at import
    gc.disable()  # until all is imported: it would look through it again and again
    import numpy  # noqa: F401
    import torch

    torch.set_num_threads(1)
    parameter = torch.nn.Parameter(torch.zeros(1))
    torch.optim.Adam([parameter])  # its first use imports hundreds of modules
    if len(list(Path("/proc/self/task").iterdir())) != 1:
        raise RuntimeError("the zygote has more than one thread")
    gc.collect()
    gc.freeze()  # else every fork's first collection would copy all pages
    gc.enable()


class Request:
    """What one call is: read after the fork."""

    def __init__(self, body: int) -> None:
        with open(body, "rb") as file:
            file.seek(0)
            head, _, self.filter = file.read().partition(b"\0\0")
        self.uid, self.gid, *bounds, self.folder, script, count, rest = _fields(head)
        self.bounds = [int(bound) for bound in bounds]
        self.environment = dict(pair.split("=", 1) for pair in rest[: int(count)])
        self.argv = [script, *rest[int(count) :]]


def _fields(head: bytes) -> list:
    words = os.fsdecode(head).split("\0")
    return [int(words[0]), int(words[1]), *words[2:8], words[8:]]


def attend(body: int, sandbox: int, status: int, output: int, source: int) -> NoReturn:
    """Enter the sandbox's namespaces, fork the child that will be inside, and report how it ends."""
    prctl(SET_PDEATHSIG, signal.SIGKILL)
    request = Request(body)
    link = socket.socket(fileno=status)
    if LIBC.setns(sandbox, NAMESPACES):
        raise OSError(ctypes.get_errno(), "setns")
    gate, go = os.pipe()
    child = os.fork()
    if not child:
        os.close(go)
        become(request, gate, output, source)
    os.close(gate)
    pidfd = os.pidfd_open(child)
    socket.send_fds(link, [b"child"], [pidfd])
    if link.recv(16) == b"go":
        os.write(go, b"!")
    wait_for(pidfd, link)
    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    _, result = os.waitpid(child, 0)
    link.send(f"exit {os.waitstatus_to_exitcode(result)}".encode())
    os._exit(0)


def wait_for(pidfd: int, link: socket.socket) -> None:
    """Return when the child has ended, or when the supervisor says stop or is gone."""
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.register(link.fileno(), select.POLLIN)
    poll.poll()


def become(request: Request, gate: int, output: int, source: int) -> NoReturn:
    """Turn the fork into a process of the sandbox, then run the script; never returns."""
    try:
        prctl(SET_PDEATHSIG, signal.SIGKILL)
        if os.read(gate, 1) != b"!":
            os._exit(1)
        os.setsid()
        for stream, target in ((source, 0), (output, 1), (output, 2)):
            os.dup2(stream, target)
        os.closerange(3, 65536)
        confine(request)
        os.environ.clear()
        os.environ.update(request.environment)
        reseed()
        run(request)
    except BaseException:
        traceback.print_exc()
    os._exit(1)


def confine(request: Request) -> None:
    """Limits, user, capabilities, filter: in an order in which each step is still allowed."""
    kinds = (resource.RLIMIT_NPROC, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # 0 would still feed a host's program that collects cores
    for capability in range(64):
        LIBC.prctl(BOUNDING_DROP, ctypes.c_ulong(capability), 0, 0, 0)
    if os.geteuid() != request.uid:
        os.setgroups([])
        os.setresgid(request.gid, request.gid, request.gid)
        os.setresuid(request.uid, request.uid, request.uid)
    LIBC.prctl(AMBIENT, ctypes.c_ulong(4), 0, 0, 0)
    header, empty = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if LIBC.capset(header, empty):
        raise OSError(ctypes.get_errno(), "capset")
    os.chdir(request.folder)
    for kind, bound in zip(kinds, request.bounds, strict=True):
        if bound:
            hard = resource.getrlimit(kind)[1]
            bound = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
            resource.setrlimit(kind, (bound, bound))
    prctl(NO_NEW_PRIVS, 1)
    prctl(SET_PDEATHSIG, signal.SIGKILL)  # the change of the user has cleared it
    prctl(SET_DUMPABLE, 1)
    program = Program(len(request.filter) // 8, request.filter)
    prctl(SET_SECCOMP, 2, ctypes.byref(program))


def reseed() -> None:
    """All forks would draw the same numbers."""
    import numpy
    import torch

    random.seed()
    numpy.random.seed()
    torch.seed()


def run(request: Request) -> NoReturn:
    """Run the script as Python's own command line would, and end without the interpreter's slow farewell."""
    script = request.argv[0]
    sys.argv = list(request.argv)
    sys.path.insert(0, os.path.dirname(script))  # noqa: PTH120 - text, as Python itself has it
    code: object = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            sys.stderr.write(code + "\n")
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                code = code or 1
    os._exit(code if isinstance(code, int) else 0)


def serve(control: socket.socket) -> NoReturn:
    """Fork for every message; its one byte says nothing, its descriptors all."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # attendants report for themselves
    control.send(b"ready")
    while True:
        data, descriptors, _, _ = socket.recv_fds(control, 1, DESCRIPTORS)
        if not data:
            os._exit(0)
        if not os.fork():
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.close(control.detach())
                attend(*descriptors)
            finally:
                os._exit(1)
        for descriptor in descriptors:
            os.close(descriptor)


def main() -> NoReturn:
    control = socket.socket(fileno=int(sys.argv[1]))
    warm_up()
    serve(control)


if __name__ == "__main__":
    main()
