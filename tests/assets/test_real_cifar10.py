"""The `full` loaders on the real CIFAR-10 at full size, where MLDEVBENCH_TEST_CIFAR10 names its archive.

`scripts/cifar10_from_npm.py` makes one where the original can't be had.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import yaml

from mldevbench import workspace
from mldevbench.assets.keeping import Keep
from mldevbench.catalog import Catalog
from mldevbench.digest import of_file
from mldevbench.draw import Draw
from mldevbench.mirror.door import open_mirror
from mldevbench.prove import prove
from mldevbench.task import Task, load_task
from mldevbench.validate.variant import reference

NAME = "cifar-10-python.tar.gz"
USERS = ("cifar10_training", "vision_finetuning", "cifar10_long_tailed", "improve_cifar10_baseline")
GIVEN = os.environ.get("MLDEVBENCH_TEST_CIFAR10", "")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not GIVEN, reason="MLDEVBENCH_TEST_CIFAR10 names no archive")]


@pytest.fixture
def keep(tmp_path: Path, task_venv: Path, monkeypatch: pytest.MonkeyPatch) -> Keep:
    monkeypatch.setattr("mldevbench.assets.keeping.cache_folder", lambda: tmp_path / "cache")
    made = Keep(tmp_path / "cache" / "assets")
    place = made.place(of_file(Path(GIVEN)))
    place.parent.mkdir(parents=True)
    place.symlink_to(Path(GIVEN).resolve())
    return made


def real_task(name: str, folder: Path) -> Task:
    """Return a copy of a task that declares the archive that is here."""
    original = Catalog.of([]).task(name)
    copy = Path(shutil.copytree(original.folder, folder / original.category / name))
    written = yaml.safe_load((copy / "task.yaml").read_text(encoding="utf-8"))
    here = {"bytes": Path(GIVEN).stat().st_size, "sha256": of_file(Path(GIVEN))}
    written["assets"]["full"][NAME].update(here)
    (copy / "task.yaml").write_text(yaml.safe_dump(written), encoding="utf-8")
    return load_task(copy)


def test_a_task_is_solved_on_the_real_images(keep: Keep, tmp_path: Path, task_venv: Path) -> None:
    task = real_task("dataset_preprocessing", tmp_path / "tasks")
    proof = prove(task, reference(task), instance=0, salt=b"real", profile="full", isolation="bubblewrap",
                  venv=task_venv, scratch=tmp_path / "scratch")  # fmt: skip
    assert proof.ok, proof.detail


@pytest.mark.timeout(1200)  # several unpack 170 MB more than once
@pytest.mark.parametrize("name", USERS)
def test_every_task_that_uses_it_can_be_laid_out(name: str, keep: Keep, tmp_path: Path) -> None:
    task = real_task(name, tmp_path / "tasks")
    draw = Draw.of(b"real", task.id, 0)
    workspace.build(task, draw, "full", tmp_path / "workspace")
    with open_mirror(task, draw, "full", tmp_path / "door", "bubblewrap"):
        pass
