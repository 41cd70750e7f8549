"""Runs a shell script in which `python` is a fork of this process, so that what is imported here need not be there.

Only the standard library is imported: whatever else is in memory, the process was started with it. What the fork leaves
by an exception ends it in whoever runs this file, as it would end a program of its own.

Usage: warm_shell.py SCRIPT [NAME ARGUMENTS…], as for `bash -c`
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import types
from pathlib import Path

NAMES = ("python", "python3")
# By a program that starts in milliseconds: its streams, folder, variables and words go to us, how it ended comes back.
CLIENT = """
import json, os, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
socket.send_fds(link, [b"!"], [0, 1, 2])
link.sendall(json.dumps([os.getcwd(), dict(os.environ), sys.argv[2:]]).encode())
link.shutdown(socket.SHUT_WR)
code = int(link.recv(16) or 1)
if code < 0:
    os.kill(os.getpid(), -code)  # as a shell sees it
sys.exit(code)
"""


def main(words: list[str]) -> None:
    """Serve the shell until it ends; returns in every fork once its own program is done."""
    folder = Path(tempfile.mkdtemp())
    door = folder / "door"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(door))
    listener.listen()
    lay_out(folder, door)
    search = f"{folder}:{os.environ['PATH']}"
    shell = subprocess.Popen(["bash", "-c", *words], env={**os.environ, "PATH": search})
    while link := next_call(listener, shell.pid):
        if not os.fork():
            listener.close()
            return attend(link)
        link.close()
    code = shell.wait()
    sys.exit(code if code >= 0 else 128 - code)


def lay_out(folder: Path, door: Path) -> None:
    """Put programs of Python's names where the shell looks first."""
    client = folder / "client.py"
    client.write_text(CLIENT, encoding="utf-8")
    for name in NAMES:
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -IS "{client}" "{door}" "$@"\n', "utf-8")
        (folder / name).chmod(0o755)


def next_call(listener: socket.socket, shell: int) -> socket.socket | None:
    """Return the next caller; None once the shell has ended."""
    ended = os.pidfd_open(shell)
    try:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(ended, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll()]
    finally:
        os.close(ended)
    return listener.accept()[0] if listener.fileno() in ready else None


def attend(link: socket.socket) -> None:
    """Fork the caller's program, tell the caller how it ends, and end it if the caller goes away; returns inside it."""
    _, streams, _, _ = socket.recv_fds(link, 1, 3)
    folder, variables, words = json.loads(b"".join(iter(lambda: link.recv(1 << 16), b"")))
    child = os.fork()
    if child:
        ended = os.pidfd_open(child)
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        poll.register(link, 0)
        poll.poll()
        signal.pidfd_send_signal(ended, signal.SIGKILL)  # a dead one doesn't mind
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(BrokenPipeError):  # nobody asks any more
            link.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    link.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    odd = {name for name, value in variables.items() if name.startswith("PYTHON") and os.environ.get(name) != value}
    os.environ.clear()
    os.environ.update(variables)
    if odd or (words[:1] and words[0].startswith("-") and words[0] not in ("-", "-c", "-m")):
        os.execv(sys.executable, [sys.executable, *words])  # what it asks for is read at the start
    reseed()
    run(words)


def reseed() -> None:
    """All forks would draw the same numbers."""
    random.seed()
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    if "torch" in sys.modules:
        sys.modules["torch"].seed()


def run(words: list[str]) -> None:
    """Do as Python does with these words."""
    if words[:1] == ["-m"]:
        sys.argv, sys.path[0] = words[1:], os.getcwd()  # noqa: PTH109 - text, as Python itself has it
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    elif not words or words[0] in ("-", "-c"):
        text = words[1] if words[:1] == ["-c"] else sys.stdin.read()
        sys.argv, sys.path[0] = (["-c", *words[2:]] if words[:1] == ["-c"] else words or [""]), ""
        module = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(text, "<string>" if words[:1] == ["-c"] else "<stdin>", "exec"), module.__dict__)
    else:
        sys.argv, sys.path[0] = words, os.path.dirname(os.path.realpath(words[0]))  # noqa: PTH120 - as above
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
