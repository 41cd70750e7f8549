"""A run's own mirror from the task's declaration to the listener inside the sandbox."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mldevbench import plugin
from mldevbench.assets import provided
from mldevbench.draw import Draw
from mldevbench.mirror.address import PORT, URL, variables
from mldevbench.mirror.log import RequestLog
from mldevbench.mirror.route import Fault
from mldevbench.mirror.shelf import shelve
from mldevbench.model.loop import wait_for
from mldevbench.task import Task


class Mirror:
    """Serves one attempt; `doors` and `environment` go into the sandbox's description."""

    def __init__(self, folder: Path, faults: Sequence[Fault], log: Path, isolation: str) -> None:
        from mldevbench.mirror.server import Server  # takes a moment, and not every task has a mirror

        self.log = RequestLog(log)
        self._server = Server(shelve(folder, faults), self.log)
        # A sandbox without a network of its own shares our loopback, where a fixed port may be taken.
        self._own = socket.create_server(("127.0.0.1", 0)) if isolation == "process" else None
        self.url = f"http://127.0.0.1:{self._own.getsockname()[1]}" if self._own else URL
        self.doors = () if self._own else (PORT,)

    @property
    def environment(self) -> dict[str, str]:
        return variables(self.url)

    def serve(self, listeners: Sequence[socket.socket]) -> None:
        """Answer from now on; `listeners` are the sandbox's own."""
        self._own = self._own or listeners[0].dup()  # the sandbox closes its own while we may still look at ours
        wait_for(self._server.start(self._own))

    def close(self) -> None:
        wait_for(self._server.close())
        if self._own:
            self._own.close()
        self.log.close()


@contextmanager
def open_mirror(task: Task, draw: Draw, profile: str, scratch: Path, isolation: str) -> Iterator[Mirror | None]:
    """Lay out what a task serves and give its mirror; None for a task without one."""
    if task.network != "mirror":
        yield None
        return
    folder = scratch / "served"
    folder.mkdir(parents=True)
    serve = getattr(plugin.load(task.part("data.py")), "serve", None) if task.part("data.py").is_file() else None
    faults = tuple((serve(folder, draw, provided(task, profile)) if serve else None) or ())
    mirror = Mirror(folder, faults, scratch / "requests.jsonl", isolation)
    try:
        yield mirror
    finally:
        mirror.close()
