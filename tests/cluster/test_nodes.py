"""Studies on several simulated nodes with fake GPUs: what is reserved, what is seen, what can't be had."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from mldevbench.execute import seen_gpus
from mldevbench.records import AttemptRow, Outcome, RunRow
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import stored_steps

NODES = Path(__file__).parent / "nodes.py"
OnNodes = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def on_nodes(tmp_path: Path, clean_environment: None) -> OnNodes:
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root here")

    def run(nodes: int, cpus: int, gpus: int, *words: str) -> subprocess.CompletedProcess[str]:
        command = ["unshare", "--net", sys.executable, str(NODES), str(nodes), str(cpus), str(gpus)]
        command += [sys.executable, "-m", "cluster", "--name", "s", "--storage", str(tmp_path / "r"), *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=580, check=False)

    return run


def results(tmp_path: Path) -> tuple[StudyStore, list[RunRow]]:
    store = StudyStore(open_place(str(tmp_path / "r" / "s")))
    return store, list(store.runs.all())


def seen(store: StudyStore, row: RunRow) -> str:
    (step,) = stored_steps(store.place.child(f"artifacts/{row.run_id}/1"))
    return step.text.removeprefix("sees=")


@pytest.mark.parametrize(
    ("held", "real", "expected"),
    [
        ((), True, ((), {"CUDA_VISIBLE_DEVICES": ""})),
        ((), False, ((), {"CUDA_VISIBLE_DEVICES": ""})),
        ((1, 3), True, ((1, 3), {})),
        ((1, 3), False, ((), {"CUDA_VISIBLE_DEVICES": "1,3"})),
    ],
)
def test_a_run_is_shown_its_own_gpus(held: tuple[int, ...], real: bool, expected: tuple) -> None:
    assert seen_gpus(held, real, known=Path("/nowhere")) == expected


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_mixed_needs_across_nodes(on_nodes: OnNodes, plugins: Path, tmp_path: Path) -> None:
    tasks = [word for task in ("quick", "one_gpu", "two_gpu", "four_gpu") for word in ("--task", task)]
    done = on_nodes(4, 4, 4, "--root", str(plugins), "--agent", "watcher", *tasks, "--seeds", "16")
    assert done.returncode == 0, done.stderr
    store, rows = results(tmp_path)
    assert len(rows) == 64 and {(row.outcome, row.attempts) for row in rows} == {(Outcome.PASSED, 1)}
    assert len({row.node for row in rows}) == 4
    held: dict[tuple[str | None, str], list[AttemptRow]] = {}
    attempts = {row.run_id: row for row in store.attempts.all()}
    for row in rows:
        devices = [word for word in seen(store, row).split(",") if word]
        assert len(set(devices)) == row.gpus and set(devices) <= set("0123")
        for device in devices:
            held.setdefault((row.node, device), []).append(attempts[row.run_id])
    for holders in held.values():
        in_time = sorted(holders, key=lambda one: one.started_at)
        for one, other in pairwise(in_time):
            assert one.finished_at and one.finished_at <= other.started_at, "two agents held one GPU at once"


@pytest.mark.slow
def test_one_gpu_in_all_starves_nothing_and_no_gpu_is_seen_unasked(
    on_nodes: OnNodes, plugins: Path, tmp_path: Path
) -> None:
    """Runs of two CPUs and a GPU, whose validation wants that GPU too, on a node of just that; and runs of none."""
    words = ("--root", str(plugins), "--agent", "watcher", "--task", "one_gpu", "--task", "quick", "--seeds", "3")
    done = on_nodes(1, 2, 1, *words, "--task", "two_gpu", "--cpus-per-run", "2")
    assert done.returncode == 0, done.stderr
    assert "no node is large enough: two_gpu asks for 2 CPUs, 2 GPUs" in done.stderr
    store, rows = results(tmp_path)
    told = sorted((row.task, row.gpus, seen(store, row)) for row in rows)
    assert told == [("one_gpu", 1.0, "0")] * 3 + [("quick", 0.0, "")] * 3 + [("two_gpu", 1.0, "0")] * 3
    assert {round(row.gpu_seconds - row.wall_seconds * row.gpus, 6) for row in rows} == {0.0}
    shared = on_nodes(1, 2, 1, *words[:4], "--task", "quick", "--gpus-per-run", "0.5", "--share-gpus")
    assert shared.returncode == 0, shared.stderr
    (row,) = (row for row in results(tmp_path)[1] if row.gpus == 0.5)
    assert row.gpu_shared and seen(store, row) == "0"
