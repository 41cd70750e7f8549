"""`--offline`: nothing is fetched or installed, and what is missing is named before anything starts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import Cli

from mldevbench.cli.running import Call, make_ready
from mldevbench.study import AgentEntry, StudyFile, WandbFile

STUDY = StudyFile(agents=[AgentEntry(agent="oracle")], tasks=["hello_world"], wandb=WandbFile(mode="online"))


@pytest.fixture
def bare_cache(tmp_path: Path, task_venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point to a cache with the task venv and no assets."""
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / task_venv.name).symlink_to(task_venv)
    monkeypatch.setenv("MLDEVBENCH_CACHE", str(tmp_path / "cache"))


def test_a_missing_asset_is_one_line_and_nothing_starts(cli: Cli, bare_cache: None, tmp_path: Path) -> None:
    done = cli("run", "--agent", "oracle", "--task", "dataset_preprocessing", "--profile", "full", "--offline")
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert "--offline forbids to fetch it" in line
    assert not list((tmp_path / "results").glob("*/study.yaml"))


def test_wandb_is_offline_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: None) -> None:
    monkeypatch.chdir(tmp_path)
    call = Call(study=STUDY)
    assert make_ready(call).wandb.mode == "online"
    assert make_ready(replace(call, offline=True)).wandb.mode == "offline"
