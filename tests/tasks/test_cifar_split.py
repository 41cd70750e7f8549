"""CIFAR files without a test split: drawn ones, and the real loaders on small archives in the original layout."""

from __future__ import annotations

import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest

from mldevbench import plugin, workspace
from mldevbench.catalog import home
from mldevbench.draw import Draw
from mldevbench.material import cifar, cifar100, cifar_split
from mldevbench.material.shapes import NAMES, draw_classes, draw_pictures
from mldevbench.material.textured import COARSE_NAMES, FINE_NAMES, PATTERNS, FinePictures, draw_textured
from mldevbench.task import Task, load_task

TASKS = home() / "tasks" / "performance"
DRAW = Draw(b"a key for tests")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def unpickled(path: Path) -> dict:
    return pickle.loads(path.read_bytes(), encoding="latin1")


def archive10(folder: Path) -> Path:
    """Pack a small set as the real CIFAR-10 is packed."""
    cifar.write_cifar10(folder / "made", rng(), 40, 30, 0.1)
    with tarfile.open(folder / cifar_split.ARCHIVE, "w:gz") as files:
        files.add(folder / "made" / cifar.FOLDER, cifar.FOLDER)
    return folder


def archive100(folder: Path) -> Path:
    """Pack a small set as the real CIFAR-100 is packed."""
    pictures = draw_textured(rng(), 60)
    cifar100.write_training_set(folder / "made", pictures, FINE_NAMES, COARSE_NAMES)
    place = folder / "made" / cifar100.FOLDER
    (place / "test").write_bytes((place / "train").read_bytes())
    with tarfile.open(folder / cifar100.ARCHIVE, "w:gz") as files:
        files.add(place, cifar100.FOLDER)
    return folder


def test_pictures_of_given_classes() -> None:
    labels = rng().permutation(np.repeat(np.arange(10), 3))
    pictures = draw_classes(rng(), labels)
    assert np.array_equal(pictures.labels, labels) and pictures.images.shape == (30, 3, 32, 32)


def test_class_numbers_are_the_instance_s_own() -> None:
    one, two = (cifar_split.class_order(Draw(key), 10) for key in (b"one", b"two"))
    assert sorted(one) == list(range(10)) and not np.array_equal(one, two)
    names = cifar_split.names_of(one)
    pictures = draw_pictures(rng(), 50)
    shown = cifar_split.reordered(pictures, one)
    assert [names[label] for label in shown.labels] == [NAMES[label] for label in pictures.labels]


def test_textured_pictures_have_both_labels_and_differ_by_pattern() -> None:
    drawn = draw_textured(rng(), 400)
    assert drawn.fine.max() < len(FINE_NAMES) and np.array_equal(drawn.coarse, drawn.fine // len(PATTERNS))
    assert len(np.unique(drawn.fine)) > 35
    again = draw_textured(rng(), 400)
    assert np.array_equal(drawn.images, again.images)


def test_cifar100_files_read_like_the_real_ones(tmp_path: Path) -> None:
    drawn = draw_textured(rng(), 20)
    cifar100.write_training_set(tmp_path, drawn, FINE_NAMES, COARSE_NAMES)
    train = unpickled(tmp_path / cifar100.FOLDER / "train")
    assert set(train) == {"filenames", "batch_label", "fine_labels", "coarse_labels", "data"}
    assert np.array_equal(train["data"].reshape(-1, 3, 32, 32), drawn.images)
    assert train["fine_labels"] == drawn.fine.tolist()
    assert len(unpickled(tmp_path / cifar100.FOLDER / "meta")["fine_label_names"]) == len(FINE_NAMES)


@pytest.mark.parametrize("name", ["improve_cifar10_baseline", "cifar10_long_tailed", "improve_cifar100_baseline"])
def test_the_full_loaders_give_training_pictures_and_no_test_split(tmp_path: Path, name: str) -> None:
    """The same code as for the real archives, on small ones in their layout."""
    task = load_task(TASKS / name)
    assets = (archive100 if "100" in name else archive10)(tmp_path)
    profile = {**task.profile("full"), "assets": assets, "most": 10, "imbalance": 10}
    workspace.lay_over(task.part("workspace"), tmp_path / "seen")
    plugin.load(task.part("data.py")).prepare(tmp_path / "seen", DRAW, profile)
    written = sorted(path.name for path in (tmp_path / "seen" / "data").rglob("*") if path.is_file())
    assert not [one for one in written if "test" in one] and len(written) >= 2
    unseen = held_out(task, profile)
    assert len(unseen) in (30, 60)


def held_out(task: Task, profile: dict) -> np.ndarray:
    """Return the labels of what the validator asks about, having compared their numbers with the workspace's."""
    found = plugin.load(task.part("validate.py"))._unseen(DRAW, profile)
    if isinstance(found, tuple) and isinstance(found[0], FinePictures):
        pictures, right = found[0].fine, cifar100.real_pictures(profile, "test").fine
    else:
        pictures, right = found.labels, cifar_split.real_test_pictures(profile).labels
    order = cifar_split.class_order(DRAW, len(FINE_NAMES) if "100" in task.id else 10)
    assert np.array_equal(pictures, order[right])
    return pictures


def test_the_long_tail_is_as_long_as_told(tmp_path: Path) -> None:
    task = load_task(TASKS / "cifar10_long_tailed")
    told = workspace.build(task, DRAW, "mini", tmp_path)
    batches = [unpickled(tmp_path / "data" / cifar.FOLDER / name)["labels"] for name in cifar.TRAIN_BATCHES]
    counts = sorted(np.bincount(np.concatenate(batches), minlength=10), reverse=True)
    assert counts[0] / counts[-1] == pytest.approx(task.profile("mini")["imbalance"], rel=0.1)
    assert ", ".join(str(count) for count in counts) in " ".join(told.split())
