"""Scaling studies by rerun and by replay of graded snapshots; one agent minds its budget, the other does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from studies.making import ENDLESS, several
from support import Cli

from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

TASKS = {f"climb{number}": f"This is number {number}." for number in range(8)}
MARGIN = "0.3"  # eight tasks without a difference can't show less


def scaled(cli: Cli, plugins: Path, tmp_path: Path, name: str, *more: str) -> dict[str, Any]:
    (tmp_path / "endless.yaml").write_text(ENDLESS, encoding="utf-8")
    words = ("--root", str(plugins), "--agent", "climber", "--model", "scripted/endless.yaml", "--task", "many")
    done = cli("scale", name, *words, "--seeds", "1", "--json", "--margin", MARGIN, *more, timeout=500)
    assert done.returncode == 0, done.stderr[-3000:]
    (found,) = json.loads(done.stdout)["labels"]
    return found


def test_replay_and_rerun_agree_for_an_agent_that_does_not_know_its_budget(
    cli: Cli, plugins: Path, tmp_path: Path
) -> None:
    several(plugins, TASKS)
    rerun = scaled(cli, plugins, tmp_path, "again", "--grid", "2,4,16")
    replay = scaled(cli, plugins, tmp_path, "once", "--grid", "4,16", "--way", "replay")["replay"]
    assert replay["graded"] and replay["calibrations"]["4.0"]["agrees"]
    graded = dict(zip(replay["estimates"]["budgets"], replay["estimates"]["graded"], strict=True))
    again = {level["budget"]: level["rate"]["passed"] / level["rate"]["judged"] for level in rerun["levels"]}
    assert {budget: graded[budget] for budget in again} == pytest.approx(again)
    assert again[2] < again[16], "the tasks are too easy to show anything"
    rows = list(StudyStore(open_place(str(tmp_path / "results" / "once"))).snapshots.all())
    assert {row.steps for row in rows} == {1, 2, 4, 8, 16}
    by_run: dict[str, list[bool]] = {}
    for row in sorted(rows, key=lambda row: row.number):
        by_run.setdefault(row.run_id, []).append(row.outcome == "passed")
    assert all(verdicts == sorted(verdicts) for verdicts in by_run.values()), "this agent never unlearns"


def test_the_calibration_refuses_an_agent_that_minds_its_budget(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    several(plugins, TASKS)
    found = scaled(cli, plugins, tmp_path, "s", "--grid", "4,16", "--way", "replay", "--param", "climber.hurry=true")[
        "replay"
    ]
    assert not found["calibrations"]["4.0"]["agrees"]
    assert cli("scale", "s", "--margin", MARGIN).stdout.count("contradicted by a rerun") == 1
