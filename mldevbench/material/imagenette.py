"""Archives in Imagenette's layout: folders of JPEG files named by WordNet ids, and a table of noisy labels."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mldevbench.material.shapes import draw_pictures

TOP = "imagenette2-160"
TABLE = "noisy_imagenette.csv"
CLASSES = (
    "n01440764", "n02102040", "n02979186", "n03000684", "n03028079",
    "n03394916", "n03417042", "n03425413", "n03445777", "n03888257",
)  # fmt: skip
LEVELS = (0, 1, 5, 25, 50)  # per cent
COLUMNS = ("path", *(f"noisy_labels_{level}" for level in LEVELS), "is_valid")
SIDE = 160


@dataclass(frozen=True)
class Row:
    """One line of the table: an image and its label at each level of noise."""

    path: str
    labels: tuple[str, ...]
    is_valid: bool


@dataclass(frozen=True)
class Collection:
    rows: tuple[Row, ...]
    images: dict[str, bytes]  # by path


def draw_collection(rng: np.random.Generator, train: int, val: int) -> Collection:
    """Draw images of drawn shapes; class sizes are multinomial but never nothing, the table's order is shuffled."""
    while True:
        pictures = draw_pictures(rng, train + val)
        numbers = rng.permutation(100_000)[: train + val]
        rows = [_row(rng, int(label), int(number), place >= train)
                for place, (label, number) in enumerate(zip(pictures.labels, numbers, strict=True))]  # fmt: skip
        if all(len({row.labels[-1] for row in rows if row.is_valid is part}) == len(CLASSES) for part in (True, False)):
            break
    images = {row.path: _jpeg(image, rng) for row, image in zip(rows, pictures.images, strict=True)}
    return Collection(tuple(rows[int(place)] for place in rng.permutation(len(rows))), images)


def _row(rng: np.random.Generator, label: int, number: int, valid: bool) -> Row:
    name = CLASSES[label]
    return Row(f"{'val' if valid else 'train'}/{name}/{name}_{number}.JPEG", _noisy(rng, label, valid), valid)


def _noisy(rng: np.random.Generator, label: int, valid: bool) -> tuple[str, ...]:
    """Return a label for each level; images for validation keep their own."""
    luck, other = rng.random(), (label + int(rng.integers(1, len(CLASSES)))) % len(CLASSES)
    return tuple(CLASSES[label if valid or luck >= level / 100 else other] for level in LEVELS)


def _jpeg(image: np.ndarray, rng: np.random.Generator) -> bytes:
    """Encode a picture enlarged to the usual size; one side is a little longer, as with photographs."""
    from PIL import Image

    longer = SIDE + int(rng.integers(0, 40))
    size = (SIDE, longer) if rng.integers(2) else (longer, SIDE)
    file = io.BytesIO()
    Image.fromarray(image.transpose(1, 2, 0)).resize(size, Image.Resampling.NEAREST).save(file, "JPEG", quality=40)
    return file.getvalue()


def table_of(rows: Sequence[Row]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((row.path, *row.labels, row.is_valid) for row in rows)
    return text.getvalue().encode()


def write_archive(collection: Collection, path: Path) -> None:
    """Write a .tgz whose order and times tell nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        path.open("wb") as file,
        gzip.GzipFile("", "wb", 1, file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for name, content in sorted({**collection.images, TABLE: table_of(collection.rows)}.items()):
            member = tarfile.TarInfo(f"{TOP}/{name}")
            member.size, member.mode = len(content), 0o644
            archive.addfile(member, io.BytesIO(content))


def files_of(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive that we made or verified, by their names below its top folder."""
    with tarfile.open(path, "r:gz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is not None:
                yield member.name.split("/", 1)[1], file.read()


def read_table(content: bytes) -> list[Row]:
    lines = csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""))
    return [
        Row(line["path"], tuple(line[name] for name in COLUMNS[1:-1]), line["is_valid"] == "True") for line in lines
    ]


def inventory(path: Path) -> tuple[list[Row], dict[str, str]]:
    """Return an archive's table and the SHA-256 of every image."""
    rows: list[Row] = []
    digests: dict[str, str] = {}
    for name, content in files_of(path):
        if name == TABLE:
            rows = read_table(content)
        elif name.endswith(".JPEG"):
            digests[name] = hashlib.sha256(content).hexdigest()
    return rows, digests
