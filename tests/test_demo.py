"""The demo's script, on its smallest task."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_demo_runs_three_agents_and_says_where_its_results_are(tmp_path: Path, clean_environment: None) -> None:
    command = ["bash", "scripts/demo.sh", str(Path(sys.executable).parent), str(tmp_path), "hello_world"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "demo" / "report.md").read_text(encoding="utf-8")
    assert "| hello_world | extra | ✗ | ✓ | ✓ |" in report
    assert list(tmp_path.glob("demo/runs/*.parquet"))
