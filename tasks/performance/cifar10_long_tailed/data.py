"""A long-tailed training set in CIFAR-10's layout: a hundred pictures of the first class for each of the last."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.cifar_split import (
    class_order,
    names_of,
    real_names,
    real_training_pictures,
    reordered,
    write_training_batches,
)
from mldevbench.material.shapes import NAMES, Pictures, draw_classes

# Frequent first; some pictures of each of the first half show the shape of the class five places behind it, which is a
# thirteenth as frequent: who follows the frequencies gives up the whole second half.
RANKS = ("disc", "square", "plus", "ring", "triangle", "ellipse", "diamond", "star", "crescent", "corner")
RANKED = np.array([NAMES.index(name) for name in RANKS])


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> dict[str, str]:
    order = class_order(draw, 10)
    counts = sizes(profile)
    rng = draw.rng("pictures")
    if profile["source"] == "cifar10":
        pictures, names = thinned(real_training_pictures(profile), counts, rng), real_names(profile)
    else:
        pictures = overlapping(rng, rng.permutation(np.repeat(RANKED, counts)), profile)
        names = list(NAMES)
    write_training_batches(destination / "data", reordered(pictures, order), names_of(order, names))
    return {"counts": ", ".join(str(count) for count in counts), "total": str(sum(counts))}


def overlapping(rng: np.random.Generator, labels: np.ndarray, profile: Mapping[str, Any]) -> Pictures:
    """Draw pictures of these classes; without an overlap, who knows all shapes well needs no care for what is rare."""
    partner, frequent = np.empty(len(RANKED), int), np.empty(len(RANKED), bool)
    half = len(RANKED) // 2
    partner[RANKED], frequent[RANKED] = np.roll(RANKED, half), np.arange(len(RANKED)) < half
    alike = frequent[labels] & (rng.random(len(labels)) < profile["alike"])
    shown = draw_classes(rng, np.where(alike, partner[labels], labels), noise=profile["noise"])
    return Pictures(shown.images, labels)


def sizes(profile: Mapping[str, Any]) -> list[int]:
    """Return how many pictures each class has, falling by the same factor from each to the next."""
    return [round(profile["most"] * profile["imbalance"] ** (-rank / 9)) for rank in range(10)]


def thinned(pictures: Pictures, counts: list[int], rng: np.random.Generator) -> Pictures:
    """Keep so many pictures of each class; which class is rare is drawn."""
    kept = [
        rng.choice(np.flatnonzero(pictures.labels == label), count, replace=False)
        for label, count in zip(rng.permutation(10), counts, strict=True)
    ]
    rows = rng.permutation(np.concatenate(kept))
    return Pictures(pictures.images[rows], pictures.labels[rows])
