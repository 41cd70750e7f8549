"""Wrong use: exit code 2, one line, a remedy; and nothing is started or written."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Cli

CASES = {
    "unknown task 'nan_loss'; did you mean 'nan_losses'": ["run", "--agent", "oracle", "--task", "nan_loss"],
    "unknown agent 'orcle'; did you mean 'oracle'": ["run", "--agent", "orcle", "--task", "hello_world"],
    "unknown profile 'maxi'": ["run", "--agent", "oracle", "--task", "hello_world", "--profile", "maxi"],
    "unknown unit 'stesp'": ["run", "--agent", "oracle", "--task", "hello_world", "--budget", "stesp=4"],
    "unknown --only 'owing'": ["run", "--agent", "oracle", "--task", "hello_world", "--only", "owing"],
    "Ray Client": ["run", "--agent", "oracle", "--task", "hello_world", "--address", "ray://head:10001"],
    "unknown study 'nothing'": ["status", "nothing"],
    "study file 'gone.yaml' isn't there": ["run", "gone.yaml"],
    "unknown format 'docx'": ["report", "x", "--format", "docx"],
    "study name 'a/b'": ["run", "--agent", "oracle", "--task", "hello_world", "--name", "a/b"],
}


@pytest.mark.parametrize("said", CASES)
def test_wrong_use_is_one_line(cli: Cli, said: str) -> None:
    done = cli(*CASES[said])
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode == 2 and len(lines) == 1, done.stderr
    assert lines[0].startswith("mldevbench: ") and said in lines[0]


def test_a_storage_that_cannot_be_written_is_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    done = cli("run", "--agent", "oracle", "--task", "hello_world", "--storage", "file/below")
    assert done.returncode == 2 and "choose another with --storage" in done.stderr


def test_a_dry_run_shows_the_plan_and_starts_nothing(cli: Cli, tmp_path: Path) -> None:
    done = cli("run", "--agent", "oracle", "--agent", "noop", "--task", "hello_world", "--seeds", "3", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "owed           6" in done.stdout
    assert not list((tmp_path / "results").glob("*/study.yaml"))
