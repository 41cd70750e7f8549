"""Studies on several simulated nodes with fake GPUs: what is reserved, what is seen, what can't be had."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mldevbench.execute import seen_gpus
from mldevbench.records import Outcome, RunRow
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
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=False)

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
    assert seen_gpus(held, real) == expected


@pytest.mark.slow
def test_runs_hold_gpus_across_nodes(on_nodes: OnNodes, plugins: Path, tmp_path: Path) -> None:
    words = ("--root", str(plugins), "--agent", "watcher", "--task", "quick", "--seeds", "16", "--gpus-per-run", "1")
    done = on_nodes(4, 2, 2, *words)
    assert done.returncode == 0, done.stderr
    store, rows = results(tmp_path)
    assert len(rows) == 16 and {row.outcome for row in rows} == {Outcome.PASSED}
    assert len({row.node for row in rows}) > 1
    for one in rows:
        assert seen(store, one) in ("0", "1")
        together = [
            other
            for other in rows
            if other.node == one.node and other.started_at <= one.started_at < other.finished_at
            and seen(store, other) == seen(store, one)
        ]  # fmt: skip
        working = [other for other in together if (one.started_at - other.started_at).total_seconds() < 1]
        assert working == [one], "two agents held one GPU at once"


@pytest.mark.slow
def test_one_gpu_in_all_starves_nothing_and_no_gpu_is_seen_unasked(
    on_nodes: OnNodes, plugins: Path, tmp_path: Path
) -> None:
    words = ("--root", str(plugins), "--agent", "watcher", "--task", "quick", "--seeds", "3")
    done = on_nodes(1, 2, 1, *words, "--gpus-per-run", "1", "--cpus-per-run", "2")
    assert done.returncode == 0, done.stderr
    more = on_nodes(1, 2, 1, *words, "--gpus-per-run", "0", "--cpus-per-run", "2")
    assert more.returncode == 0, more.stderr
    store, rows = results(tmp_path)
    assert sorted((row.gpus, seen(store, row)) for row in rows) == [(0.0, "")] * 3 + [(1.0, "0")] * 3


@pytest.mark.slow
def test_what_no_node_can_hold_is_refused_at_once(on_nodes: OnNodes, plugins: Path, tmp_path: Path) -> None:
    done = on_nodes(2, 1, 1, "--root", str(plugins), "--agent", "watcher", "--task", "quick", "--gpus-per-run", "2")
    assert done.returncode == 2, done.stderr
    assert "no node can hold a run of 1 CPUs, 2 GPUs" in done.stderr
