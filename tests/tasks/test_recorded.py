"""A recorded answer is worth nothing elsewhere: what solves one instance fails on another, and under another salt."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.room.settings import RoomSettings
from mldevbench.validate.run import validate_submission
from mldevbench.validate.variant import make, variants

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # several of them train

SOLVED_BY = {
    "dataset_download_noisy_imagenette": "solution",
    "dataset_download_not_exist": "solution",
    "dataset_preprocessing": "solution",
    "large_training_logs": "solution",
    "pretrained_huggingface": "plain_curl",  # here and below: the quickest of its solutions
    "pretrained_torchvision": "by_hand",
    "vision_finetuning": "without_transformers",
    "overfit_small_dataset": "support_vectors",
    "cifar10_training": "solution",
    "wandb_integration": "solution",
}
PLACES = ((b"one salt", 0), (b"one salt", 1), (b"another salt", 0))


@pytest.mark.parametrize("name", SOLVED_BY)
def test_a_submission_passes_on_its_own_instance_only(name: str, tmp_path: Path, task_venv: Path) -> None:
    task = Catalog.of([]).task(name)
    (solution,) = (one for one in variants(task) if one.name == SOLVED_BY[name])
    settings = RoomSettings("bubblewrap", task_venv, tmp_path / "scratch")
    draws = [Draw.of(salt, task.id, instance) for salt, instance in PLACES]
    archive = tmp_path / "submission.tar"
    made = make(task, solution, draws[0], "mini", settings, archive)
    verdicts = [validate_submission(task, archive, made.manifest.digest, draw, "mini", settings) for draw in draws]
    assert [verdict.passed for verdict in verdicts] == [True, False, False]
