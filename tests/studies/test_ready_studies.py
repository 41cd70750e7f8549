"""The study files that come along: each plans what it says; the one without a key is run with the documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import Cli

from mldevbench.reference import PAPER
from mldevbench.study import read_study_file

STUDIES = Path(__file__).parents[2] / "studies"


@pytest.mark.parametrize(
    ("file", "agents", "tasks", "seeds"),
    [("paper", 4, 30, 1), ("variance", 1, 14, 5), ("scaling", 1, 13, 3), ("smoke", 3, 1, 2)],
)
def test_a_ready_study_plans_what_it_says(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: str, agents: int, tasks: int, seeds: int
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-not-a-real-one-0123456789")
    words = ("run", str(STUDIES / f"{file}.yaml"), "--dry-run", "--json", "--storage", str(tmp_path / "r"))
    done = cli(*words, cwd=STUDIES.parent)
    assert done.returncode == 0, done.stderr
    assert read_study_file(STUDIES / f"{file}.yaml").name != PAPER, "that name means what was published"
    plan = json.loads(done.stdout)["plan"]
    assert len(plan) == agents * tasks * seeds
    assert len({row["label"] for row in plan}) == agents and len({row["task"] for row in plan}) == tasks
