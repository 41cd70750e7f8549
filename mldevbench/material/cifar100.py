"""CIFAR-100's own files: one pickle of training pictures with fine and coarse labels, and the names of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.material.asset import asset
from mldevbench.material.cifar import _dump
from mldevbench.material.cifar_split import member
from mldevbench.material.textured import FinePictures

FOLDER = "cifar-100-python"
ARCHIVE = "cifar-100-python.tar.gz"


def write_training_set(folder: Path, pictures: FinePictures, fine: Sequence[str], coarse: Sequence[str]) -> None:
    """Write `train` and `meta`, and no `test`."""
    place = folder / FOLDER
    place.mkdir(parents=True)
    files = [f"{fine[label]}_s_{position:06d}.png" for position, label in enumerate(pictures.fine)]
    rows = pictures.images.reshape(len(files), -1)
    labels = {
        "fine_labels": [int(label) for label in pictures.fine],
        "coarse_labels": [int(label) for label in pictures.coarse],
    }
    train = {"filenames": files, "batch_label": "training batch 1 of 1", **labels, "data": rows}
    _dump(place / "train", train)
    _dump(place / "meta", {"fine_label_names": list(fine), "coarse_label_names": list(coarse)})


def renumbered(pictures: FinePictures, order: np.ndarray) -> FinePictures:
    """Return the pictures with other numbers for the fine classes."""
    return FinePictures(pictures.images, order[pictures.fine], pictures.coarse)


def real_pictures(profile: Mapping[str, Any], split: str) -> FinePictures:
    """Return `train` or `test` of CIFAR-100 from the archive that was verified when it was fetched."""
    batch = member(asset(profile, ARCHIVE), f"{FOLDER}/{split}")
    images = np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32)
    return FinePictures(
        images, np.asarray(batch["fine_labels"], np.int64), np.asarray(batch["coarse_labels"], np.int64)
    )


def real_fine_names(profile: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    meta = member(asset(profile, ARCHIVE), f"{FOLDER}/meta")
    return [str(name) for name in meta["fine_label_names"]], [str(name) for name in meta["coarse_label_names"]]
