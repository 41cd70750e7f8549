"""Checkpoints judged in whole studies: with a GPU reserved and without, by a judge that dies, and beyond their time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from support import Cli

from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import stored_steps

pytestmark = pytest.mark.slow

NODES = Path(__file__).parents[1] / "cluster" / "nodes.py"
PAUSE = "8.125"  # of the dawdler's predictions; no other sleep has that length
DEADLINE = 200.0


def store_of(tmp_path: Path, name: str) -> StudyStore:
    return StudyStore(open_place(str(tmp_path / "results" / name)))


def judged(tmp_path: Path, name: str) -> dict[str, tuple[object, ...]]:
    """Return what was said of each agent's run."""
    store = store_of(tmp_path, name)
    checks: dict[str, list[tuple[object, ...]]] = {}
    for one in store.checks.all():
        checks.setdefault(one.run_id, []).append((one.position, one.name, one.passed, one.expected, one.seen))
    found = {}
    for row in store.runs.all():
        found[row.agent] = (row.run_id, row.outcome, row.score, row.stop_reason, sorted(checks[row.run_id]))
    return found


def devices_seen(gpus: int, plugins: Path, name: str) -> list[float]:
    """Run the oracle and noop on a simulated node with so many fake GPUs; return how many each judge's room saw."""
    folder = plugins.parent
    words = ["--name", name, "--storage", folder / "results", "--root", plugins, "--task", "checkpoint"]
    command = ["unshare", "--net", sys.executable, NODES, 1, 2, gpus, sys.executable, "-m", "cluster", *words]
    command += ["--agent", "oracle", "--agent", "noop"]
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(row.metrics)["devices"] for row in store_of(folder, name).runs.all()]


@pytest.mark.timeout(600)
def test_a_reserved_gpu_changes_no_verdict(plugins: Path, tmp_path: Path, clean_environment: None) -> None:
    """Both studies draw with the storage's salt, so their points are the same."""
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root here")
    assert devices_seen(1, plugins, "with") == [1, 1]
    assert devices_seen(0, plugins, "without") == [0, 0]
    seen = judged(tmp_path, "with")
    assert seen == judged(tmp_path, "without")
    assert {agent: one[1] for agent, one in seen.items()} == {"oracle": Outcome.PASSED, "noop": Outcome.FAILED}


@pytest.fixture
def started(tmp_path: Path, plugins: Path, clean_environment: None) -> Iterator[subprocess.Popen[bytes]]:
    """A study of one checkpoint that takes long to judge."""
    words = ["run", "--name", "s", "--root", str(plugins), "--agent", "dawdler", "--task", "checkpoint"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mldevbench", *words], cwd=tmp_path, stdout=log, stderr=log, start_new_session=True
        )
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_judge_that_dies_half_way_costs_no_second_run(started: subprocess.Popen[bytes], tmp_path: Path) -> None:
    predicting = partial(pids, lambda words: words == ["sleep", PAUSE])
    first = wait_for(predicting, started)
    (judge,) = pids(lambda words: words[0].startswith("ray::ValidationWorker"), of=started.pid)
    os.kill(judge, signal.SIGKILL)
    second = wait_for(lambda: predicting() - first, started)
    assert not first & predicting() and second, "the first prediction outlived its judge"
    assert started.wait(timeout=DEADLINE) == 0, (tmp_path / "log").read_text(encoding="utf-8")
    store = store_of(tmp_path, "s")
    (row,), (attempt,) = store.runs.all(), store.attempts.all()
    assert (row.outcome, row.attempts, attempt.phase) == (Outcome.PASSED, 1, "graded")
    artifacts = store.place.child(f"artifacts/{row.run_id}")
    assert len(stored_steps(artifacts.child("1"))) == 1, "the agent ran again"
    assert [path.name for path in (tmp_path / "results/s/artifacts" / row.run_id).iterdir()] == ["1"]


def test_an_evaluation_beyond_the_tasks_time_fails_and_says_so(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    done = cli(*f"run --name s --root {plugins} --agent dawdler --task checkpoint_in_time".split())
    assert done.returncode == 0, done.stderr
    store = store_of(tmp_path, "s")
    (row,) = store.runs.all()
    assert (row.outcome, row.attempts, row.cause, row.score) == (Outcome.FAILED, 1, None, 0.0)
    (failed,) = (one for one in store.checks.all() if not one.passed)
    assert failed.name in ("calling the submitted code", "time")
    assert "an answer within" in failed.expected or "in the task's time" in failed.expected


def wait_for(look: Callable[[], set[int]], process: subprocess.Popen[bytes]) -> set[int]:
    """Look until there is something."""
    deadline = time.monotonic() + DEADLINE
    while not (found := look()):
        assert time.monotonic() < deadline and process.poll() is None, "waited too long"
        time.sleep(0.05)
    return found


def pids(fit: Callable[[list[str]], bool], of: int | None = None) -> set[int]:
    """Return the processes whose command line fits, of one session where one is named."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
            if words and fit(words) and (of is None or os.getsid(int(folder.name)) == os.getsid(of)):
                found.add(int(folder.name))
        except OSError:
            continue
    return found
