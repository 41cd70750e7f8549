"""The intruder in whole studies: on every task it achieves nothing, as root and as an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox.test_as_user import ORDINARY, command
from support import Cli

from mldevbench import task_venv as venvs
from mldevbench.catalog import Catalog
from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import stored_steps

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

WORDS = ("run", "--name", "s", "--agent", "intruder", "--param", "search_seconds=2")


def achievements(storage: Path, tasks: list[str]) -> list[str]:
    """Return what was achieved, after a look that every task was really attacked and failed."""
    store = StudyStore(open_place(str(storage / "s")))
    rows = list(store.runs.all())
    assert sorted(row.task for row in rows) == sorted(tasks)
    assert {(row.outcome, row.stop_reason) for row in rows} == {(Outcome.FAILED, "finished")}
    steps = [step for row in rows for step in stored_steps(store.place.child(f"artifacts/{row.run_id}/1"))]
    return [step.text for step in steps]


def test_nothing_is_achieved_on_any_task(cli: Cli, tmp_path: Path) -> None:
    done = cli(*WORDS, "--task", "all", "--task", "extra", "--sandbox", "bubblewrap", timeout=800)
    assert done.returncode == 0, done.stderr
    assert achievements(tmp_path / "results", Catalog.of().names(["all", "extra"])) == []


def test_the_weak_sandbox_does_not_stop_it(cli: Cli, tmp_path: Path) -> None:
    done = cli(*WORDS, "--task", "hello_world", "--sandbox", "process", "--budget", "minutes=5")
    assert done.returncode == 0, done.stderr
    assert "weak sandbox: process" in done.stdout
    assert achievements(tmp_path / "results", ["hello_world"])


@pytest.fixture
def home() -> Iterator[Path]:
    """A home of the ordinary user, with a cache that has our task venv in it."""
    folder = Path(tempfile.mkdtemp(prefix=""))
    (folder / "cache").mkdir()
    (folder / "cache" / venvs.path().name).symlink_to(venvs.path())
    for path in (folder, folder / "cache"):
        os.chown(path, ORDINARY, ORDINARY)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_nothing_is_achieved_against_an_ordinary_user(home: Path, clean_environment: None) -> None:
    if os.geteuid() != 0:
        pytest.skip("the other tests run as an ordinary user anyway")
    words = (
        *WORDS,
        "--task",
        "hello_world",
        "--task",
        "nan_losses",
        "--sandbox",
        "bubblewrap",
        "--storage",
        str(home / "r"),
    )
    argv, variables = command(home, sys.executable, "-m", "mldevbench", *words)
    variables["MLDEVBENCH_CACHE"] = str(home / "cache")
    done = subprocess.run(argv, env=variables, cwd=home, capture_output=True, text=True, timeout=600, check=False)
    if "bubblewrap" in done.stderr and done.returncode == 2:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert achievements(home / "r", ["hello_world", "nan_losses"]) == []
