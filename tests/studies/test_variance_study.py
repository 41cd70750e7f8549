"""A variance study of agents whose chances are known, on several nodes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from studies.making import several
from support import Cli

from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

NODES = Path(__file__).parents[1] / "cluster" / "nodes.py"
CHANCES = {"sure": 1.0, "safe": 0.97, "coin": 0.5, "rare": 0.04, "never": 0.0}


def test_known_chances_are_found_again_and_the_flaky_task_is_named(
    plugins: Path, tmp_path: Path, clean_environment: None
) -> None:
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root here")
    several(plugins, {name: f"Your chance {chance:.2f}." for name, chance in CHANCES.items()})
    words = ["variance", "s", "--storage", str(tmp_path / "r"), "--root", str(plugins), "--json", "--seeds", "12"]
    words += ["--agent", "lucky", "--task", "many"]
    command = ["unshare", "--net", sys.executable, str(NODES), "3", "2", "0", sys.executable, "-m", "mldevbench"]
    done = subprocess.run([*command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    (found,) = json.loads(done.stdout)["labels"]
    truth = sum(CHANCES.values()) / len(CHANCES)
    low, high = found["rate"]["fixed"]["interval"].values()
    assert low <= truth <= high and high - low < 0.3
    low, high = found["rate"]["population"]["interval"].values()
    assert low <= truth <= high
    assert [one["task"] for one in found["flaky"] if one["kind"] == "agent"] == ["coin"]
    rows = list(StudyStore(open_place(str(tmp_path / "r" / "s"))).runs.all())
    assert len(rows) == 12 * len(CHANCES) and len({row.node for row in rows}) == 3


def test_seeds_are_added_until_the_rate_is_narrow_and_nothing_is_run_twice(
    cli: Cli, plugins: Path, tmp_path: Path
) -> None:
    several(plugins, {name: f"Your chance {CHANCES[name]:.2f}." for name in ("sure", "coin")})
    words = ("--root", str(plugins), "--agent", "lucky", "--task", "many", "--seeds", "3", "--json")
    done = cli("variance", "s", *words, "--until-half-width", "0.25", "--max-seeds", "20")
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(done.stdout)
    seeds = said["labels"][0]["rate"]["seeds"][0]
    assert 3 < seeds <= 20 and said["seeds_owed"] <= seeds
    store = StudyStore(open_place(str(tmp_path / "results" / "s")))
    before = {row.run_id: row.finished_at for row in store.runs.all()}
    assert len(before) == 2 * seeds
    done = cli("variance", "s", *words[:-3], "--seeds", str(seeds + 1), "--regrades", "2", "--json")
    assert done.returncode == 0, done.stderr[-3000:]
    after = {row.run_id: row.finished_at for row in store.runs.all()}
    assert len(after) == 2 * (seeds + 1) and before.items() <= after.items(), "a finished run was run again"
    regrades = list(store.regrades.all())
    assert len(regrades) == 2 * len(after) and {row.repeat for row in regrades} == {0, 1}
    components = {part["level"]: part["variance"] for part in json.loads(done.stdout)["labels"][0]["components"]}
    assert components["validator"] == 0, "the same validator said two things of one submission"
