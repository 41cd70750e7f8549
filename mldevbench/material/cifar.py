"""CIFAR-10's own files: pickles as Python 2 wrote them, rows of 3,072 bytes, channel after channel."""

from __future__ import annotations

import pickle
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.material.shapes import NAMES, Pictures, draw_pictures

FOLDER = "cifar-10-batches-py"
TRAIN_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
TEST_BATCH = "test_batch"


def _python2_pickler() -> type[Any]:
    """Return a pickler that writes strings as Python 2 did: `encoding="bytes"` and `"latin1"` both read them."""
    plain: Any = pickle._Pickler  # the C pickler has no hook for how strings are written

    def byte_string(self: Any, value: bytes) -> None:
        short = len(value) < 256
        head = (
            pickle.SHORT_BINSTRING + bytes([len(value)]) if short else pickle.BINSTRING + struct.pack("<i", len(value))
        )
        self.write(head + value)
        self.memoize(value)

    def text(self: Any, value: str) -> None:
        byte_string(self, value.encode("ascii"))

    dispatch = {**plain.dispatch, bytes: byte_string, str: text}
    return type("Python2Pickler", (plain,), {"dispatch": dispatch})


def write_cifar10(folder: Path, rng: np.random.Generator, batch: int, test: int, noise: float) -> Pictures:
    """Write six batches and the names of the classes below `folder`; return the first batch."""
    place = folder / FOLDER
    place.mkdir(parents=True)
    first = None
    for number, name in enumerate((*TRAIN_BATCHES, TEST_BATCH), start=1):
        pictures = draw_pictures(rng, test if name == TEST_BATCH else batch, noise=noise)
        first = first or pictures
        title = "testing batch 1 of 1" if name == TEST_BATCH else f"training batch {number} of 5"
        _dump(place / name, _batch(pictures, title))
    meta = {"num_cases_per_batch": batch, "label_names": list(NAMES), "num_vis": 3072}
    _dump(place / "batches.meta", meta)
    assert first is not None
    return first


def unpack_cifar10(archive: Path, folder: Path) -> None:
    """Unpack the real archive, whose digest was verified when it was fetched, below `folder`."""
    with tarfile.open(archive, "r:gz") as files:
        files.extractall(folder, filter="data")


def read_batch(path: Path) -> Pictures:
    """Read a batch that we wrote or verified ourselves; never one that an agent could have touched."""
    with path.open("rb") as file:
        batch = pickle.load(file, encoding="latin1")
    images = np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32)
    return Pictures(images, np.asarray(batch["labels"], np.int64))


def _batch(pictures: Pictures, title: str) -> dict[str, object]:
    names = [f"{NAMES[label]}_s_{position:06d}.png" for position, label in enumerate(pictures.labels)]
    rows = pictures.images.reshape(len(pictures.images), -1)
    labels = [int(label) for label in pictures.labels]
    return {"batch_label": title, "labels": labels, "data": rows, "filenames": names}


def _dump(path: Path, value: Any) -> None:
    with path.open("wb") as file:
        _python2_pickler()(file, protocol=2).dump(value)
