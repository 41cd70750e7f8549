"""A mirror on our own loopback, and one inside a sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from mirror.opened import Open, Opened

from mldevbench.mirror.door import Mirror
from mldevbench.mirror.route import Fault
from mldevbench.sandbox import SandboxSpec
from mldevbench.sandbox.opening import open_sandbox


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """Return a folder with a plain file and a hub's repository."""
    folder = tmp_path / "served"
    model = folder / "hub" / "models" / "quiet" / "tiny"
    (model / "extra").mkdir(parents=True)
    (folder / "data").mkdir()
    (folder / "data" / "numbers.bin").write_bytes(bytes(range(256)) * 400)
    (model / "config.json").write_text('{"hidden_size": 8}', encoding="utf-8")
    (model / "extra" / "words.txt").write_text("one two", encoding="utf-8")
    return folder


@pytest.fixture
def open_mirror(tmp_path: Path, served: Path) -> Iterator[Open]:
    """Open mirrors, around sandboxes where an isolation is named, and end them all."""
    opened: list[Opened] = []

    def start(faults: Sequence[Fault] = (), isolation: str | None = None, venv: Path | None = None) -> Opened:
        mirror = Mirror(served, faults, tmp_path / f"log-{len(opened)}.jsonl", isolation or "process")
        sandbox = None
        if isolation:
            (tmp_path / "workspace").mkdir(exist_ok=True)
            spec = SandboxSpec(tmp_path / "workspace", venv=venv, environment=mirror.environment, doors=mirror.doors)
            sandbox = open_sandbox(spec, isolation)
        opened.append(Opened(mirror, sandbox))
        mirror.serve(sandbox.listeners if sandbox else ())
        return opened[-1]

    yield start
    for one in opened:
        if one.sandbox:
            one.sandbox.close()
        one.mirror.close()
