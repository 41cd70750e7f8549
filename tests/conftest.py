"""What all tests share: the task venv, the command line as a process, and a root with plug-ins of our own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import Cli

from mldevbench import task_venv as venvs

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts us in the background hands down a deaf ear, and the commands that we interrupt would have it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
PLUGINS = HERE / "plugins"
# A minute or more each; begun first, so that none is left alone at the end while the other workers have nothing to do.
LONGEST = (
    "agents/test_third_party.py",
    "agents/test_study_of_agents.py",
    "docs/test_docs.py",
    "cluster/test_refusals.py",
    "submit/test_submit.py",
    "cluster/test_study.py",
    "model/test_study_models.py",
    "cluster/test_nodes.py",
    "cluster/test_intruder.py",
    "cluster/test_faults.py",
    "sandbox/test_as_user.py",
    "judge/test_in_study.py",
    "studies/test_scaling_study.py",
    "assets/test_full.py",
    "agents/test_command.py",
    "model/test_shared_limiter.py",
    "agents/test_react.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Count among the slow tests whatever starts a whole command: that alone takes a second or two."""
    for item in items:
        if "cli" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
    rank = {HERE / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path, len(LONGEST)))


@pytest.fixture(scope="session")
def task_venv() -> Path:
    return venvs.path()


@pytest.fixture
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the tester's own settings out of a test."""
    for name in list(os.environ):
        if name.startswith(("MLDEVBENCH_", "RAY_")) and name != "MLDEVBENCH_CACHE":
            monkeypatch.delenv(name)


@pytest.fixture
def cli(tmp_path: Path, clean_environment: None) -> Cli:
    """Run a command as a person would; returns the finished process."""

    def run(*words: str, timeout: float = 240, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mldevbench", *words]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)

    return run


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Return a copy of the tests' own tasks and agents, free to be edited."""
    return Path(shutil.copytree(PLUGINS, tmp_path / "plugins"))
