"""Pictures of shapes filled with patterns: every shape with every pattern is a class, a stand-in for CIFAR-100."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mldevbench.material import shapes
from mldevbench.material.shapes import Grid, Mask

CHUNK = 512


def _plain(u: Grid, v: Grid) -> Mask:
    return np.zeros_like(u, dtype=bool)


def _across(u: Grid, v: Grid) -> Mask:
    return np.sin(v * 7.5) > 0


def _upright(u: Grid, v: Grid) -> Mask:
    return np.sin(u * 7.5) > 0


def _chequered(u: Grid, v: Grid) -> Mask:
    return np.sin(u * 6) * np.sin(v * 6) > 0


PATTERNS: dict[str, Callable[[Grid, Grid], Mask]] = {
    "plain": _plain,
    "across": _across,
    "upright": _upright,
    "chequered": _chequered,
}
COARSE_NAMES = shapes.NAMES
FINE_NAMES = tuple(f"{pattern}_{shape}" for shape in shapes.NAMES for pattern in PATTERNS)


class FinePictures(NamedTuple):
    """Images as bytes, channel first; the class of each, and the shape that it belongs to."""

    images: NDArray[np.uint8]
    fine: NDArray[np.int64]
    coarse: NDArray[np.int64]


def draw_textured(rng: np.random.Generator, count: int, *, noise: float = 0.06) -> FinePictures:
    """Draw pictures whose classes are multinomial, so that no position or count tells a class."""
    fine = rng.integers(0, len(FINE_NAMES), count)
    parts = [_draw(rng, fine[start : start + CHUNK], noise) for start in range(0, count, CHUNK)]
    images = np.concatenate(parts) if parts else np.zeros((0, 3, shapes.SIZE, shapes.SIZE), np.uint8)
    return FinePictures(images, fine, fine // len(PATTERNS))


def _draw(rng: np.random.Generator, fine: NDArray[np.int64], noise: float) -> NDArray[np.uint8]:
    canvas, colour = shapes.background(rng, len(fine))
    u, v = shapes.local_grid(rng, rng.uniform(9.0, 13.0, len(fine)), spread=3.0)
    mask, marked = np.zeros_like(u, dtype=bool), np.zeros_like(u, dtype=bool)
    for label, (shape, name) in enumerate((shape, name) for shape in shapes.NAMES for name in PATTERNS):
        chosen = fine == label
        mask[chosen] = shapes.SHAPES[shape](u[chosen], v[chosen])
        marked[chosen] = PATTERNS[name](u[chosen], v[chosen])
    shapes.paint(canvas, mask, colour)
    shapes.paint(canvas, mask & marked, _second(rng, colour))
    canvas += rng.standard_normal(canvas.shape, dtype=np.float32) * np.float32(noise)
    return (np.clip(canvas, 0, 1) * 255 + 0.5).astype(np.uint8)


def _second(rng: np.random.Generator, colour: Grid) -> Grid:
    """Return a colour for each pattern: another one than the shape's, in one channel, so that it stands out too."""
    turned = rng.integers(0, 3, len(colour))[:, None] == np.arange(3)
    return np.where(turned, np.where(colour > 0.5, colour - 0.5, colour + 0.5), colour).astype(np.float32)
