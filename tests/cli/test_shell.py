"""`tasks shell`: the sandbox as an agent sees it, one typed line at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
TYPED = "echo made here > mine; cat mine\nexit 3\nls -a\npython -c 'import mldevbench'\n\necho never > late\n"


def test_typed_lines_run_where_an_agent_would_and_leave_nothing(
    tmp_path: Path, task_venv: Path, clean_environment: None
) -> None:
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / task_venv.name).symlink_to(task_venv)
    done = subprocess.run(
        [sys.executable, "-m", "mldevbench", "tasks", "shell", "hello_world"], input=TYPED, cwd=tmp_path,
        env={**os.environ, "MLDEVBENCH_CACHE": str(tmp_path / "cache")}, capture_output=True, text=True, timeout=240,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "hello.py" in done.stdout, "the instruction was not shown"
    assert "$ made here\n" in done.stdout and "mine" in done.stdout.split("made here")[1]
    assert "exit code 3" in done.stderr and "sandbox, workspace" in done.stderr
    assert "No module named 'mldevbench'" in done.stdout
    assert list((tmp_path / "cache" / "scratch").iterdir()) == []
