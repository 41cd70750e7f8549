# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right network as a function of its weights, and the right pictures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch.nn import functional

SHAPES: dict[str, tuple[int, ...]] = {
    "conv1.weight": (16, 3, 3, 3),
    "conv2.weight": (32, 16, 3, 3),
    "conv3.weight": (64, 32, 3, 3),
    "head.weight": (10, 64),
    "head.bias": (10,),
    **{
        f"bn{number}.{name}": (channels,)
        for number, channels in ((1, 16), (2, 32), (3, 64))
        for name in ("weight", "bias", "running_mean", "running_var")
    },
}
SHIFT = 2


def draw_weights(rng: np.random.Generator) -> dict[str, np.ndarray]:
    made = {}
    for name, shape in SHAPES.items():
        spread = 1 / np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 0.3
        values = rng.normal(0, spread, shape)
        if name.endswith("running_var") or (name.startswith("bn") and name.endswith("weight")):
            values = rng.uniform(0.5, 1.5, shape)
        made[name] = values.astype(np.float32)
    return made


def scores(weights: Mapping[str, torch.Tensor], pictures: torch.Tensor, training: bool = False) -> torch.Tensor:
    maps = pictures
    for number in (1, 2, 3):
        maps = functional.conv2d(maps, weights[f"conv{number}.weight"], padding=1)
        # Copies: in training, batch_norm writes the statistics that it is given.
        mean, variance = (weights[f"bn{number}.running_{name}"].clone() for name in ("mean", "var"))
        scale, shift = (weights[f"bn{number}.{name}"] for name in ("weight", "bias"))
        maps = functional.batch_norm(maps, mean, variance, scale, shift, training).relu()
        maps = functional.max_pool2d(maps, 2) if number < 3 else maps
    return functional.linear(maps.mean(dim=(2, 3)), weights["head.weight"], weights["head.bias"])


def plain(images: np.ndarray) -> np.ndarray:
    return (images.astype(np.float32) / 255 - 0.5) / 0.25


def as_bytes(pictures: np.ndarray) -> np.ndarray | None:
    """Return the bytes that plain() would have made these pictures from, if there are such."""
    raw = (pictures.astype(np.float64) * 0.25 + 0.5) * 255
    near = np.rint(raw)
    fits = np.isfinite(raw).all() and np.abs(raw - near).max(initial=0) < 0.05
    return near.astype(np.uint8) if fits and near.min(initial=0) >= 0 and near.max(initial=0) <= 255 else None


def versions(images: np.ndarray) -> dict[bytes, tuple[int, tuple[int, int, int]]]:
    """Return every augmented form of every picture, with the picture's place and how it was changed."""
    found = {}
    size = images.shape[-1]
    for flip in (0, 1):
        turned = images[..., ::-1] if flip else images
        padded = np.pad(turned, ((0, 0), (0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)))
        for down in range(2 * SHIFT + 1):
            for across in range(2 * SHIFT + 1):
                moved = padded[:, :, down : down + size, across : across + size]
                change = (flip, down - SHIFT, across - SHIFT)
                found |= {picture.tobytes(): (place, change) for place, picture in enumerate(moved)}
    return found
