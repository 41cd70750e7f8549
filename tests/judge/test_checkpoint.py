"""Checkpoints in the room: the same verdict with a GPU reserved and without, and an end to what takes too long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge.support import Submit, write
from safetensors.numpy import load_file, save_file

from mldevbench import plugin
from mldevbench import workspace as given
from mldevbench.catalog import home
from mldevbench.checks import Unmet
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.room import RoomSettings, rooms
from mldevbench.task import Task, load_task

DRAW = Draw(b"a key for tests")
TASKS = home() / "tasks" / "performance"


def judged(task: Task, submission: Any, profile: Mapping[str, Any]) -> list[Check | Metric]:
    return list(plugin.load(task.part("validate.py")).validate(submission, DRAW, profile))


@pytest.fixture
def task(workspace: Path) -> Task:
    """A task whose given model is handed in untrained."""
    task = load_task(TASKS / "improve_cifar100_baseline")
    workspace_of(task, workspace)
    return task


def workspace_of(task: Task, place: Path) -> None:
    given.build(task, DRAW, "mini", place)
    rng, shapes = np.random.default_rng(0), {"convolutions.0": (16, 3), "convolutions.1": (32, 16)}
    shapes |= {"convolutions.2": (48, 32)}
    weights = {f"{name}.weight": rng.normal(0, 0.1, (*shape, 3, 3)) for name, shape in shapes.items()}
    weights |= {f"{name}.bias": np.zeros(shape[0]) for name, shape in shapes.items()}
    weights |= {"head.weight": rng.normal(0, 0.1, (40, 192)), "head.bias": np.zeros(40)}
    (place / "best_checkpoint").mkdir()
    made = {name: value.astype(np.float32) for name, value in weights.items()}
    save_file(made, place / "best_checkpoint" / "weights.safetensors")


@pytest.mark.slow
def test_a_simulated_gpu_changes_no_verdict(task: Task, submit: Submit, warm_settings: RoomSettings) -> None:
    profile = {**task.profile("mini"), "held_out": 120}
    without = judged(task, submit(), profile)
    with rooms(replace(warm_settings, gpus=(0,))):
        with_one = judged(task, submit(), profile)
    assert without == with_one
    assert [one.name for one in without if isinstance(one, Metric)] == ["accuracy"]
    assert [one.name for one in without if isinstance(one, Check) and not one.passed] == ["accuracy on unseen pictures"]


@pytest.mark.slow
def test_an_evaluation_that_takes_too_long_fails_with_that_reason(
    task: Task, workspace: Path, submit: Submit, settings: RoomSettings
) -> None:
    write(workspace, utils="import time\ndef get_best_model():\n    time.sleep(1000)\n")
    with pytest.raises(Unmet, match="an answer within 2 s"):
        judged(task, submit(), {**task.profile("mini"), "held_out": 30, "seconds": 2})


@pytest.mark.slow
def test_a_header_hides_no_second_model(task: Task, workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    path = workspace / "best_checkpoint" / "weights.safetensors"
    save_file(load_file(path), path, {"more numbers": "7" * 500_000})
    made = judged(task, submit(), {**task.profile("mini"), "held_out": 30})
    failed = [one.name for one in made if isinstance(one, Check) and not one.passed]
    assert "bytes of best_checkpoint/weights.safetensors" in failed


def test_the_baseline_of_another_instance_has_other_outputs(tmp_path: Path) -> None:
    task = load_task(TASKS / "improve_cifar10_baseline")
    heads = []
    for instance in range(2):
        given.build(task, Draw.of(b"salt", task.id, instance), "mini", tmp_path / str(instance))
        heads.append(load_file(tmp_path / str(instance) / "checkpoints" / "baseline.safetensors")["head.bias"])
    assert not np.array_equal(*heads) and np.array_equal(*map(np.sort, heads))
