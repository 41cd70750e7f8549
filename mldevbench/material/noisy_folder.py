"""A flat folder of picture files with random names, and label files of which most lie in a way of their own."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mldevbench.material.png import encode_png
from mldevbench.material.shapes import draw_classes

CLASSES = 8  # the first eight shapes


class Files(NamedTuple):
    """Whole picture files, and the true class of each."""

    contents: list[bytes]
    labels: NDArray[np.int64]


def draw_files(rng: np.random.Generator, count: int, order: NDArray[np.int64]) -> Files:
    """Draw pictures of 16 by 16 pixels; shape number n has class order[n]."""
    shapes = rng.integers(0, CLASSES, count)
    large = draw_classes(rng, shapes, noise=0.06).images
    small = large.reshape(count, 3, 16, 2, 16, 2).mean(axis=(3, 5)).round().astype(np.uint8)
    return Files([encode_png(picture) for picture in small], order[shapes])


def draw_confusion(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return how likely each class (row) gets each label: about half are wrong, and most of those alike.

    Each class is mostly taken for one other; for every second class that is more often than it is called right.
    """
    circle = rng.permutation(CLASSES)
    chances = np.full((CLASSES, CLASSES), 0.06 / (CLASSES - 2))
    for place, kind in enumerate(circle):
        wrong = rng.uniform(0.61, 0.65) if place % 2 == 0 else rng.uniform(0.34, 0.38)
        chances[kind, kind], chances[kind, circle[(place + 1) % CLASSES]] = 1 - wrong, wrong - 0.06
    return chances / chances.sum(axis=1, keepdims=True)


def mislabelled(rng: np.random.Generator, labels: NDArray[np.int64], chances: NDArray[np.float64]) -> list[int]:
    return [int(rng.choice(len(chances), p=chances[label])) for label in labels]


def random_names(rng: np.random.Generator, count: int, suffix: str) -> list[str]:
    """Return different names; whoever writes files under them in any order tells nothing."""
    names: dict[str, None] = {}
    while len(names) < count:
        names[rng.bytes(6).hex() + suffix] = None
    return list(names)


def write_pictures(folder: Path, names: Sequence[str], contents: Sequence[bytes]) -> None:
    """Write picture files in the order of their names, all with the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in sorted(zip(names, contents, strict=True)):
        (folder / name).write_bytes(content)
        os.utime(folder / name, (0, 0))


def write_labels(path: Path, column: str, names: Sequence[str], labels: Sequence[int]) -> None:
    """Write a CSV file in the order of the names."""
    rows = [f"{name},{label}\n" for name, label in sorted(zip(names, labels, strict=True))]
    path.write_text(f"path,{column}\n" + "".join(rows), encoding="utf-8")


def as_rows(contents: Sequence[bytes]) -> NDArray[np.uint8]:
    """Return files as rows of bytes, filled up with zeros, which readers of pictures don't look at."""
    rows = np.zeros((len(contents), max(map(len, contents))), np.uint8)
    for row, content in zip(rows, contents, strict=True):
        row[: len(content)] = np.frombuffer(content, np.uint8)
    return rows
