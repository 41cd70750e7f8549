"""The egress proxy from inside a sandbox: the named host and nothing else, and a log of both."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from assets.server import Source, source

from mldevbench.mirror.doors import Doors, Egress
from mldevbench.mirror.egress import Rules
from mldevbench.sandbox import SandboxSpec
from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.opening import open_sandbox


@pytest.fixture
def outside() -> Iterator[Source]:
    """A server that plays the world; the rules under test take its address for a public one."""
    with source() as held:
        held.files["/set.csv"] = b"a,b\n1,2\n"
        yield held


@pytest.fixture
def sandbox(tmp_path: Path, outside: Source) -> Iterator[Cage]:
    port = int(outside.url.rpartition(":")[2])

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    rules = Rules(("data.example",), ports=(port,), resolve=resolve, public=lambda address: True)
    doors = Doors(egress=Egress(rules, tmp_path / "egress.jsonl", "bubblewrap"))
    (tmp_path / "workspace").mkdir()
    spec = SandboxSpec(tmp_path / "workspace", environment=doors.environment, doors=doors.ports)
    opened = open_sandbox(spec, "bubblewrap")
    doors.serve(opened.listeners)
    yield opened
    opened.close()
    assert doors.egress is not None
    doors.egress.close()


def said(sandbox: Cage, command: str) -> str:
    return sandbox.run(["bash", "-c", command], seconds=60).output.decode()


def test_the_named_host_and_no_other(sandbox: Cage, outside: Source, tmp_path: Path) -> None:
    port = outside.url.rpartition(":")[2]
    assert said(sandbox, f"curl -s http://data.example:{port}/set.csv") == "a,b\n1,2\n"
    assert said(sandbox, f"curl -s --proxytunnel http://data.example:{port}/set.csv") == "a,b\n1,2\n"
    assert said(sandbox, f"curl -s http://other.example:{port}/set.csv") == "other.example is not allowed\n"
    assert said(sandbox, "curl -s http://data.example:6379/") == "port 6379 is not allowed\n"
    assert "not allowed" in said(sandbox, f"curl -s --noproxy '' http://127.0.0.1:{port}/set.csv")
    assert said(sandbox, f"curl -s --noproxy '*' -m 20 http://127.0.0.1:{port}/set.csv || echo no way") == "no way\n"
    assert len(outside.requests) == 2
    lines = [json.loads(line) for line in (tmp_path / "egress.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [line["method"] for line in lines].count("refused") == 3
    assert "http://other.example" in lines[2]["path"]
