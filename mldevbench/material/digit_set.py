"""A set of handwritten digits for one training: drawn by us, or cut from the real MNIST."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mldevbench.material.asset import asset
from mldevbench.material.digits import draw_digits
from mldevbench.material.idx import Split, decode, mnist_files


class DigitSet(NamedTuple):
    """What a training script finds, and which labels it is asked to learn."""

    train: Split
    test: Split
    wanted: list[int]

    def files(self) -> dict[str, bytes]:
        return mnist_files(self.train, self.test)


def given_set(rng: np.random.Generator, profile: Mapping[str, Any]) -> DigitSet:
    """Return what the agent works on."""
    if profile["source"] == "mnist":
        return DigitSet(_mnist(profile, "train"), _mnist(profile, "t10k"), [0, 1, 2])
    return DigitSet(draw_digits(rng, profile["train"]), draw_digits(rng, profile["test"]), draw_three(rng))


def other_set(rng: np.random.Generator, profile: Mapping[str, Any]) -> tuple[DigitSet, Split]:
    """Return another set of the same form, in which labels stand for other signs, and held-out digits to it."""
    counts = (profile["train"], profile["test"], profile["held_out"])
    if profile["source"] == "mnist":
        train, rest = _mnist(profile, "train"), _mnist(profile, "t10k")
        order = rng.permutation(len(rest.labels))
        splits = [
            _pick(train, rng.permutation(len(train.labels))[: counts[0]]),
            _pick(rest, order[: counts[1]]),
            _moved(rng, _pick(rest, order[counts[1] : counts[1] + counts[2]])),
        ]
    else:
        splits = [draw_digits(rng, count) for count in counts]
    names, ring = np.empty(10, np.uint8), rng.permutation(10)
    names[ring] = np.roll(ring, 1)  # so no sign keeps the label that the whole world gives it
    train, test, held_out = (Split(split.images, names[split.labels]) for split in splits)
    return DigitSet(train, test, draw_three(rng)), held_out


def draw_three(rng: np.random.Generator) -> list[int]:
    """Draw three labels; never 0, 1, 2, with which a script that numbers its classes anew would be right."""
    order = [int(digit) for digit in rng.permutation(10)]
    return sorted(order[3:6] if set(order[:3]) == {0, 1, 2} else order[:3])


def only(split: Split, wanted: list[int]) -> Split:
    """Return the digits of a split that have one of these labels."""
    return _pick(split, np.flatnonzero(np.isin(split.labels, wanted)))


def _pick(split: Split, places: np.ndarray) -> Split:
    return Split(split.images[places], split.labels[places])


def _mnist(profile: Mapping[str, Any], name: str) -> Split:
    files = (asset(profile, f"{name}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
    images, labels = (decode(gzip.decompress(file.read_bytes())) for file in files)
    return Split(images, labels)


def _moved(rng: np.random.Generator, split: Split) -> Split:
    """Move each picture by up to a pixel, so that none is found in a public copy."""
    shifts = rng.integers(-1, 2, (len(split.images), 2))
    moved = [np.roll(image, tuple(shift), (0, 1)) for image, shift in zip(split.images, shifts, strict=True)]
    return Split(np.stack(moved), split.labels)
