"""CIFAR files without a test split: training pictures for the workspace, held-out ones for the validator alone."""

from __future__ import annotations

import pickle
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.cifar import FOLDER, TEST_BATCH, TRAIN_BATCHES, _dump
from mldevbench.material.shapes import NAMES, Pictures

ARCHIVE = "cifar-10-python.tar.gz"
META = "batches.meta"


def class_order(draw: Draw, count: int) -> np.ndarray:
    """Return which number stands for which class in this instance, so that another instance's model is worthless."""
    return draw.rng("order of the classes").permutation(count)


def reordered(pictures: Pictures, order: np.ndarray) -> Pictures:
    return Pictures(pictures.images, order[pictures.labels])


def names_of(order: np.ndarray, names: Sequence[str] = NAMES) -> list[str]:
    """Return the names of the classes by their numbers."""
    return [names[int(place)] for place in np.argsort(order)]


def write_training_batches(folder: Path, pictures: Pictures, names: Sequence[str]) -> None:
    """Write the pictures as the five training batches of CIFAR-10, with no test batch."""
    place = folder / FOLDER
    place.mkdir(parents=True)
    for number, (name, rows) in enumerate(zip(TRAIN_BATCHES, _fifths(len(pictures.labels)), strict=True), start=1):
        part = Pictures(pictures.images[rows], pictures.labels[rows])
        _dump(place / name, _batch(part, f"training batch {number} of 5", names))
    meta = {"num_cases_per_batch": len(pictures.labels) // 5, "label_names": list(names), "num_vis": 3072}
    _dump(place / META, meta)


def _fifths(count: int) -> list[np.ndarray]:
    return np.array_split(np.arange(count), len(TRAIN_BATCHES))


def _batch(pictures: Pictures, title: str, names: Sequence[str]) -> dict[str, Any]:
    labels = [int(label) for label in pictures.labels]
    files = [f"{names[label]}_s_{position:06d}.png" for position, label in enumerate(labels)]
    rows = pictures.images.reshape(len(labels), -1)
    return {"batch_label": title, "labels": labels, "data": rows, "filenames": files}


def real_training_pictures(profile: Mapping[str, Any]) -> Pictures:
    """Return CIFAR-10's training split from the archive that was verified when it was fetched."""
    parts = [_real(profile, name) for name in TRAIN_BATCHES]
    return Pictures(np.concatenate([part.images for part in parts]), np.concatenate([part.labels for part in parts]))


def real_test_pictures(profile: Mapping[str, Any]) -> Pictures:
    """Return CIFAR-10's test split; the workspace never holds it."""
    return _real(profile, TEST_BATCH)


def real_names(profile: Mapping[str, Any]) -> list[str]:
    return [str(name) for name in member(asset(profile, ARCHIVE), f"{FOLDER}/{META}")["label_names"]]


def _real(profile: Mapping[str, Any], name: str) -> Pictures:
    batch = member(asset(profile, ARCHIVE), f"{FOLDER}/{name}")
    return Pictures(np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32), np.asarray(batch["labels"], np.int64))


def member(archive: Path, name: str) -> dict[str, Any]:
    """Unpickle one file of a verified archive; never one that an agent could have touched."""
    with tarfile.open(archive, "r:gz") as files:
        found: Any = files.extractfile(name)
        return _unpickled(found)


def _unpickled(file: BinaryIO) -> dict[str, Any]:
    return pickle.load(file, encoding="latin1")
