"""What can happen to a cluster under a study: a node freezes, nodes come only when asked for, the head goes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

Played = Callable[..., dict[str, Any]]


@pytest.fixture
def played(plugins: Path, tmp_path: Path, clean_environment: None) -> Played:
    """Play a script of this folder in namespaces of its own, and return what it says."""
    if os.geteuid() != 0:
        pytest.skip("namespaces need root here")

    def play(script: str) -> dict[str, Any]:
        alone = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
        command = [*alone, sys.executable, str(Path(__file__).parent / script), str(plugins), str(tmp_path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=580, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads((tmp_path / "said.json").read_text(encoding="utf-8"))

    return play


@pytest.mark.crowd
def test_a_node_that_freezes_is_lost_and_its_late_answer_ignored(played: Played, tmp_path: Path) -> None:
    said = played("hung.py")
    assert (said["code"], said["workers"], said["late"]) == (0, 1, True), said
    print(f"lost after {said['lost after']:.1f} s")
    store = StudyStore(open_place(str(tmp_path / "r" / "s")))
    rows = list(store.runs.all())
    assert [row.outcome for row in rows] == [Outcome.PASSED] * 5 and len({row.run_id for row in rows}) == 5
    (again,) = (row for row in rows if row.attempts == 2)
    first, second = (one for one in store.attempts.all() if one.run_id == again.run_id)
    assert (first.phase, first.cause, second.phase) == ("lost", "node_lost", "graded")
    assert first.archive is None, "a late answer was taken"
    assert again.node == second.node


def test_a_cluster_without_gpus_grows_them_and_what_it_can_never_have_is_refused(
    played: Played, tmp_path: Path
) -> None:
    said = played("growing.py")
    assert "passed 0, failed 0, void 0, owed 3" in said["waiting"], said["waiting"]
    assert said["code"] == 0, said["said"]
    rows = list(StudyStore(open_place(str(tmp_path / "r" / "s"))).runs.all())
    assert [(row.outcome, row.attempts, row.gpus) for row in rows] == [(Outcome.PASSED, 1, 1.0)] * 3
    assert said["refused code"] == 2 and "no node can hold a run of 1 CPUs, 2 GPUs" in said["refused"]


def test_a_driver_that_lost_its_head_says_so_and_the_same_command_goes_on(played: Played, tmp_path: Path) -> None:
    said = played("lost_head.py")
    assert said["code"] == 1 and "Traceback" not in said["said"], said
    (line,) = (line for line in said["said"].splitlines() if line.startswith("mldevbench: "))
    assert "doesn't answer" in line and "the same command goes on" in line
    print(f"ended {said['seconds']:.1f} s after the head")
    assert said["again"] == 0, said["again said"]
    store = StudyStore(open_place(str(tmp_path / "r" / "s")))
    assert sorted((row.seed, row.outcome, row.attempts) for row in store.runs.all()) == [
        (0, Outcome.PASSED, 1),
        (1, Outcome.PASSED, 2),
        (2, Outcome.PASSED, 2),
    ]
    assert {one.cause for one in store.attempts.all() if one.phase == "lost"} == {"driver_lost"}
