"""All doors of one attempt's sandbox besides its model: the task's mirror, and the hosts that the study allows."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mldevbench.draw import Draw
from mldevbench.mirror.address import URL
from mldevbench.mirror.door import Mirror, open_mirror
from mldevbench.mirror.egress import Proxy, Rules
from mldevbench.mirror.log import RequestLog
from mldevbench.mirror.network import hosts_of
from mldevbench.model.loop import wait_for
from mldevbench.task import Task

PROXY_PORT = 8182


class Egress:
    """A run's own egress proxy."""

    def __init__(self, rules: Rules, log: Path, isolation: str) -> None:
        self.log = RequestLog(log)
        self._proxy = Proxy(rules, self.log)
        self._own = socket.create_server(("127.0.0.1", 0)) if isolation == "process" else None
        port = self._own.getsockname()[1] if self._own else PROXY_PORT
        self.doors = () if self._own else (PROXY_PORT,)
        names = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")
        local = dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost")
        self.environment = {**dict.fromkeys(names, f"http://127.0.0.1:{port}"), **local}

    def serve(self, listeners: Sequence[socket.socket]) -> None:
        self._own = self._own or listeners[0].dup()
        wait_for(self._proxy.start(self._own))

    def close(self) -> None:
        wait_for(self._proxy.close())
        if self._own:
            self._own.close()
        self.log.close()


@dataclass(frozen=True)
class Doors:
    """What a sandbox is told of its doors; none of them may be there."""

    mirror: Mirror | None = None
    egress: Egress | None = None

    @property
    def parts(self) -> list[Mirror | Egress]:
        return [part for part in (self.mirror, self.egress) if part is not None]

    @property
    def url(self) -> str:
        return self.mirror.url if self.mirror else URL

    @property
    def ports(self) -> tuple[int, ...]:
        return tuple(port for part in self.parts for port in part.doors)

    @property
    def environment(self) -> dict[str, str]:
        return {name: value for part in self.parts for name, value in part.environment.items()}

    def serve(self, listeners: Sequence[socket.socket]) -> None:
        """Answer from now on; the listeners come in the order of `ports`."""
        left = list(listeners)
        for part in self.parts:
            part.serve([left.pop(0)] if part.doors else [])


@dataclass(frozen=True)
class Opening:
    """What the study says of doors."""

    isolation: str
    network: str = "none"
    nodes: frozenset[str] = frozenset()  # the cluster's addresses


@contextmanager
def open_doors(task: Task, draw: Draw, profile: str, scratch: Path, opening: Opening) -> Iterator[Doors]:
    """Open what the task needs and the study allows."""
    hosts = hosts_of(opening.network)
    with open_mirror(task, draw, profile, scratch, opening.isolation) as mirror:
        rules = Rules(hosts, forbidden=opening.nodes)
        egress = Egress(rules, scratch / "egress.jsonl", opening.isolation) if hosts else None
        try:
            yield Doors(mirror, egress)
        finally:
            if egress:
                egress.close()
