"""Pictures in CIFAR-10's layout whose labels come in a table of their own, in several degrees of noise."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.cifar import FOLDER, TEST_BATCH, TRAIN_BATCHES, _dump
from mldevbench.material.cifar_split import class_order, real_test_pictures, real_training_pictures, reordered
from mldevbench.material.shapes import Pictures, draw_pictures
from mldevbench.material.tarball import pack_folder

PERCENTS = (50, 75, 90)
TABLE = "noisy_labels.csv"


class NoisySet(NamedTuple):
    """What the agent gets: training pictures with noisy labels, validation pictures with right ones."""

    train: Pictures
    noisy: dict[int, np.ndarray]  # per cent of wrong labels: labels of the training pictures
    val: Pictures
    names: list[str]  # of the training pictures, then of the validation pictures


def draw_noisy_set(draw: Draw, profile: Mapping[str, Any]) -> NoisySet:
    rng = draw.rng("pictures")
    order = class_order(draw, 10)
    if profile["source"] == "cifar10":
        pictures = real_training_pictures(profile)
        chosen = rng.permutation(len(pictures.labels))[: profile["train"] + profile["val"]]
        pictures = Pictures(pictures.images[chosen], pictures.labels[chosen])
    else:
        pictures = draw_pictures(rng, profile["train"] + profile["val"])
    pictures, cut = reordered(pictures, order), profile["train"]
    train, val = (Pictures(pictures.images[part], pictures.labels[part]) for part in (slice(cut), slice(cut, None)))
    noisy = {percent: with_noise(rng, train.labels, percent / 100) for percent in PERCENTS}
    numbers = rng.permutation(10 * len(pictures.labels))[: len(pictures.labels)]
    return NoisySet(train, noisy, val, [f"picture_{number:06d}.png" for number in numbers])


def held_out(draw: Draw, profile: Mapping[str, Any]) -> Pictures:
    """Return pictures of the same kind that no workspace ever holds."""
    if profile["source"] == "cifar10":
        pictures = real_test_pictures(profile)
    else:
        pictures = draw_pictures(draw.rng("held-out pictures"), profile["held_out"])
    return reordered(pictures, class_order(draw, 10))


def with_noise(rng: np.random.Generator, labels: np.ndarray, share: float) -> np.ndarray:
    """Replace this share of labels by another class."""
    wrong = rng.random(len(labels)) < share
    return np.where(wrong, (labels + rng.integers(1, 10, len(labels))) % 10, labels)


def archive(made: NoisySet) -> bytes:
    """Return six batches without labels and the table of labels as one archive."""
    with tempfile.TemporaryDirectory() as place:
        _write(made, Path(place))
        return pack_folder(Path(place))


def _write(made: NoisySet, place: Path) -> None:
    (place / FOLDER).mkdir()
    parts = np.array_split(np.arange(len(made.train.labels)), len(TRAIN_BATCHES))
    for name, part in zip(TRAIN_BATCHES, parts, strict=True):
        _dump(place / FOLDER / name, _batch(made.train.images[part], [made.names[row] for row in part], name))
    val_names = made.names[len(made.train.labels) :]
    _dump(place / FOLDER / TEST_BATCH, _batch(made.val.images, val_names, TEST_BATCH))
    (place / FOLDER / TABLE).write_text(_table(made), encoding="utf-8")


def _batch(images: np.ndarray, names: list[str], title: str) -> dict[str, Any]:
    return {"batch_label": title, "data": images.reshape(len(images), -1), "filenames": names}


def _table(made: NoisySet) -> str:
    """Return the table; its rows are sorted by name, so that they follow no batch."""
    columns = [[*made.noisy[percent].tolist(), *made.val.labels.tolist()] for percent in PERCENTS]
    valid = [False] * len(made.train.labels) + [True] * len(made.val.labels)
    rows = sorted(zip(made.names, *columns, valid, strict=True))
    header = ["path", *(f"noisy_labels_{percent}" for percent in PERCENTS), "is_valid"]
    return "\n".join(",".join(map(str, row)) for row in [header, *rows]) + "\n"
