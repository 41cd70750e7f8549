"""Tab completion, asked for as a shell asks."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
SCRIPTS = Path(sys.executable).parent
PRESS_TAB = """
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_mldevbench_completion mldevbench
printf '%s\\n' "${COMPREPLY[@]}"
"""


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "HOME": str(home), "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}


@cache
def script() -> str:
    """Return the function that we hand to bash."""
    command = ["bash", "-c", "mldevbench --show-completion; true"]
    return subprocess.run(command, env=environment(Path()), capture_output=True, text=True, check=True).stdout


def offered(folder: Path, *words: str) -> list[str]:
    """Return what bash offers after these words."""
    command = ["bash", "-c", script() + PRESS_TAB, "bash", "mldevbench", *words]
    done = subprocess.run(
        command, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ru"], ["run", "runs"]),
        (["run", "--task", "nan_l"], ["nan_losses"]),
        (["tasks", "check", "mla"], ["mla", "mla_hidden_tests"]),
        (["run", "--agent", "or"], ["oracle"]),
        (["run", "--agent", "nobody"], []),
        (["report", ""], ["first", "second"]),
        (["status", "--storage", "elsewhere", ""], ["third"]),
    ],
    ids=lambda one: " ".join(one),
)
def test_names_are_offered(words: list[str], expected: list[str], tmp_path: Path, clean_environment: None) -> None:
    for study in ("results/first", "results/second", "elsewhere/third"):
        (tmp_path / study).mkdir(parents=True)
        (tmp_path / study / "study.yaml").touch()
    (tmp_path / "results" / "no-study").mkdir()
    assert offered(tmp_path, *words) == expected


def test_names_of_a_further_root_are_offered(plugins: Path, tmp_path: Path, clean_environment: None) -> None:
    assert offered(tmp_path, "run", "--root", str(plugins), "--agent", "daw") == ["dawdler"]


def test_a_broken_root_is_no_reason_for_noise(plugins: Path, tmp_path: Path, clean_environment: None) -> None:
    (plugins / "tasks" / "trial" / "quick").rename(plugins / "tasks" / "trial" / "nan_losses")
    assert offered(tmp_path, "run", "--root", str(plugins), "--task", "nan") == []


def test_it_is_installed_for_the_shell_that_asks(tmp_path: Path, clean_environment: None) -> None:
    done = subprocess.run(
        ["bash", "-c", "mldevbench --install-completion; true"], env=environment(tmp_path), capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "bash completion installed" in done.stdout, done.stderr
    assert "mldevbench" in (tmp_path / ".bashrc").read_text(encoding="utf-8")
