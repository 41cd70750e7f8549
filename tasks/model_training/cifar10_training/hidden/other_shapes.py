# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Pictures of ten further shapes, in the manner of the task's own: what the shipped backbone was pretrained on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mldevbench.material import shapes
from mldevbench.material.shapes import Grid, Mask, Pictures

SHAPES: dict[str, Callable[[Grid, Grid], Mask]] = {
    "bar": lambda u, v: (np.abs(u) < 1) & (np.abs(v) < 0.25),
    "two bars": lambda u, v: (np.abs(u) < 0.9) & (np.abs(np.abs(v) - 0.55) < 0.2),
    "half disc": lambda u, v: (u * u + v * v < 0.9) & (v > 0),
    "hexagon": lambda u, v: np.maximum(np.abs(u), np.abs(u) / 2 + np.abs(v) * 0.87) < 0.85,
    "cross": lambda u, v: np.minimum(np.abs(u - v), np.abs(u + v)) + 4 * (u * u + v * v > 1) < 0.35,
    "arrow": lambda u, v: ((np.abs(u) < 0.2) & (v < 0.2) & (v > -0.9)) | ((v > 0.1) & (v < 0.95 - 1.1 * np.abs(u))),
    "frame": lambda u, v: np.abs(np.maximum(np.abs(u), np.abs(v)) - 0.7) < 0.17,
    "hourglass": lambda u, v: (np.abs(u) < np.abs(v) + 0.08) & (np.abs(v) < 0.85),
    "wave": lambda u, v: (np.abs(v - 0.4 * np.sin(4 * u)) < 0.25) & (np.abs(u) < 1),
    "three dots": lambda u, v: (np.mod(u * 1.5 + 0.5, 1) - 0.5) ** 2 + (v * 1.5) ** 2 + 4 * (np.abs(u) > 1) < 0.14,
}


def draw_other_pictures(rng: np.random.Generator, count: int) -> Pictures:
    """Draw pictures like `draw_pictures`, of the other shapes."""
    own = shapes.SHAPES, shapes.NAMES
    shapes.SHAPES, shapes.NAMES = SHAPES, tuple(SHAPES)  # only ever in the process that pretrains
    try:
        return shapes.draw_pictures(rng, count)
    finally:
        shapes.SHAPES, shapes.NAMES = own
