"""The intruder against each sandbox: nothing under bubblewrap, and what the weak one doesn't stop."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest
from sandbox.conftest import OpenCage, namespace_of

from mldevbench import plugin
from mldevbench.records import Step
from mldevbench.sandbox.cage import Cage

INTRUDER = Path(__file__).parents[2] / "agents" / "intruder" / "agent.py"


class Context:
    """As much of an attempt's context as the intruder uses."""

    def __init__(self, cage: Cage) -> None:
        self.sandbox = cage
        self.steps: list[Step] = []

    def record(self, step: Step) -> None:
        self.steps.append(step)


def attack(cage: Cage, **params: object) -> tuple[list[str], dict[str, list[str]]]:
    """Return the notes of one attack and the report that it left in the workspace."""
    context = Context(cage)
    plugin.load(INTRUDER).Intruder(params).run("", context)
    report = json.loads((cage.spec.workspace / "intruder.json").read_text())
    return [step.text for step in context.steps], report


@pytest.fixture
def listener() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.slow
@pytest.mark.parametrize("cgroups", [True, False])
def test_nothing_is_achieved_under_bubblewrap(open_cage: OpenCage, listener: int, cgroups: bool) -> None:
    for _ in range(2):  # the second looks for what the first has left
        cage = open_cage(cgroups=cgroups)
        namespace = namespace_of(cage)
        notes, report = attack(cage, search_seconds=60, port=listener)
        assert notes == []
        assert report["caged"]
        assert [line for line in report["tried"] if ":" in line] == []
        assert len(report["tried"]) > 30
        assert cage.breach() is None
        cage.close()
        assert namespace.members() == []
        later = cage.spec.workspace / "rewritten-later"
        size = later.stat().st_size if later.exists() else 0
        time.sleep(0.5)
        assert (later.stat().st_size if later.exists() else 0) == size


@pytest.mark.slow
def test_the_weak_sandbox_stops_little(open_cage: OpenCage, listener: int) -> None:
    notes, report = attack(open_cage("process"), search_seconds=60, port=listener)
    achieved = {note.split()[1].rstrip(":") for note in notes}
    assert not report["caged"]
    assert {"repository", "neighbours", "processes_of_others", "loopback_of_the_host", "end_the_keeper"} <= achieved


def test_an_attack_that_breaks_off_is_no_clean_sheet() -> None:
    with pytest.raises(RuntimeError, match="didn't come to its end"):
        plugin.load(INTRUDER).achieved(b"Traceback")
