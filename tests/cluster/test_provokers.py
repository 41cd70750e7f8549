"""Agents that break things on purpose fail, once; a neighbour's run passes meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support import Cli

from mldevbench.records import Outcome, RunRow, StopReason
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = pytest.mark.slow

LIMITS = {
    "memory": StopReason.MEMORY,
    "disk": StopReason.DISK,
    "processes": StopReason.PROCESSES,
    "output": StopReason.OUTPUT,
}


def run_study(cli: Cli, plugins: Path, tmp_path: Path, study: dict) -> dict[str, RunRow]:
    (tmp_path / "study.yaml").write_text(yaml.safe_dump({"name": "s", "sandbox": "bubblewrap", **study}))
    done = cli("run", "study.yaml", "--root", str(plugins), timeout=280)
    assert done.returncode == 0, done.stderr
    rows = list(StudyStore(open_place(str(tmp_path / "results" / "s"))).runs.all())
    return {row.label: row for row in rows}


def test_breaking_a_limit_is_the_agents_own_failure(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    agents = [{"agent": "provoker", "label": how, "params": {"how": how}} for how in [*LIMITS, "sandbox"]]
    neighbour = {"agent": "worker", "label": "neighbour"}
    rows = run_study(
        cli, plugins, tmp_path, {"agents": [*agents, neighbour], "tasks": ["quick"], "budget": {"minutes": 2.0}}
    )
    assert rows["neighbour"].outcome is Outcome.PASSED
    for how in [*LIMITS, "sandbox"]:
        assert (rows[how].outcome, rows[how].attempts) == (Outcome.FAILED, 1), (how, rows[how])
    assert {how: rows[how].stop_reason for how in LIMITS} == LIMITS


def test_a_submission_that_breaks_the_judge_fails_and_is_not_run_again(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    agents = [{"agent": "provoker", "label": "poison", "params": {"how": "poison"}}, {"agent": "oracle"}]
    rows = run_study(cli, plugins, tmp_path, {"agents": agents, "tasks": ["fragile"]})
    poison = rows["poison"]
    assert (poison.outcome, poison.stop_reason, poison.attempts) == (Outcome.FAILED, StopReason.UNVALIDATABLE, 1)
    assert rows["oracle"].outcome is Outcome.PASSED


def test_a_judge_that_breaks_on_its_own_solution_is_void(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    judge = plugins / "tasks" / "trial" / "fragile" / "validate.py"
    judge.write_text(judge.read_text(encoding="utf-8").replace("int(read_text", "broken(read_text"), encoding="utf-8")
    done = cli("run", "--name", "s", "--root", str(plugins), "--agent", "oracle", "--task", "fragile")
    assert done.returncode == 3, done.stderr
    (row,) = StudyStore(open_place(str(tmp_path / "results" / "s"))).runs.all()
    assert (row.outcome, row.cause, row.attempts) == (Outcome.VOID, "validator_error", 1)
