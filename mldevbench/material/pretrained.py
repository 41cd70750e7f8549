"""Pretrained weights that expect a drawn normalisation: another one for every instance, the same features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

Weights = dict[str, np.ndarray]
SCALES = (1.0, 127.5)
# Far apart, for pictures from 0 to 1: features of wrongly prepared pictures must be useless for right ones.
MEANS = ((0.0, 0.05), (0.45, 0.55), (0.95, 1.0))
SPREADS = ((0.03, 0.05), (0.05, 0.08), (1.2, 1.6))


class Preprocessing(NamedTuple):
    """A picture's bytes become (bytes / scale - mean) / std, channel by channel."""

    scale: float
    mean: list[float]
    std: list[float]

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        mean, std = (np.asarray(values, np.float32)[:, None, None] for values in (self.mean, self.std))
        return (pictures.astype(np.float32) / np.float32(self.scale) - mean) / std


def draw_preprocessing(rng: np.random.Generator) -> Preprocessing:
    """Draw values that no well-known model uses, and none that would do for another channel."""
    scale = float(rng.choice(SCALES))
    span = 255 / scale
    mean = rng.permutation([rng.uniform(*bounds) for bounds in MEANS]) * span
    std = rng.permutation([rng.uniform(*bounds) for bounds in SPREADS]) * span
    return Preprocessing(scale, [round(float(value), 4) for value in mean], [round(float(value), 4) for value in std])


def folded(weights: Mapping[str, np.ndarray], layer: str, wanted: Preprocessing) -> Weights:
    """Return weights for pictures of the wanted preprocessing, from ones for bytes / 255.

    The layer must be a convolution without padding: a border of zeros would mean another colour afterwards.
    """
    kernel, bias = (weights[f"{layer}.{name}"].astype(np.float64) for name in ("weight", "bias"))
    share = wanted.scale / 255
    std, mean = (np.asarray(values)[None, :, None, None] * share for values in (wanted.std, wanted.mean))
    made = {name: value.copy() for name, value in weights.items()}
    made[f"{layer}.weight"] = (kernel * std).astype(np.float32)
    made[f"{layer}.bias"] = (bias + (kernel * mean).sum(axis=(1, 2, 3))).astype(np.float32)
    return made
