"""Small colour pictures of ten shapes, drawn with NumPy alone: a stand-in for CIFAR-10 that nobody can have seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE = 32
Grid = NDArray[np.float32]
Mask = NDArray[np.bool_]


class Pictures(NamedTuple):
    """Images as bytes, channel first, and the class of each."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


def _disc(u: Grid, v: Grid) -> Mask:
    return u * u + v * v < 0.72


def _square(u: Grid, v: Grid) -> Mask:
    return np.maximum(np.abs(u), np.abs(v)) < 0.75


def _triangle(u: Grid, v: Grid) -> Mask:
    return (v > -0.65) & (v < 1.0 - 1.75 * np.abs(u))


def _plus(u: Grid, v: Grid) -> Mask:
    return np.minimum(np.abs(u), np.abs(v)) + 4 * (np.maximum(np.abs(u), np.abs(v)) > 1) < 0.28


def _ring(u: Grid, v: Grid) -> Mask:
    return np.abs(np.sqrt(u * u + v * v) - 0.75) < 0.22


def _ellipse(u: Grid, v: Grid) -> Mask:
    return u * u + 5 * v * v < 1


def _diamond(u: Grid, v: Grid) -> Mask:
    return 1.8 * np.abs(u) + np.abs(v) < 1.1


def _star(u: Grid, v: Grid) -> Mask:
    return np.sqrt(u * u + v * v) < 0.6 + 0.4 * np.cos(5 * np.arctan2(u, v))


def _crescent(u: Grid, v: Grid) -> Mask:
    return (u * u + v * v < 1) & ((u - 0.5) ** 2 + v * v > 0.6)


def _corner(u: Grid, v: Grid) -> Mask:
    stem = (np.abs(u + 0.5) < 0.3) & (np.abs(v) < 0.9)
    return stem | ((np.abs(v + 0.6) < 0.3) & (np.abs(u) < 0.8))


SHAPES: dict[str, Callable[[Grid, Grid], Mask]] = {
    "disc": _disc,
    "square": _square,
    "triangle": _triangle,
    "plus": _plus,
    "ring": _ring,
    "ellipse": _ellipse,
    "diamond": _diamond,
    "star": _star,
    "crescent": _crescent,
    "corner": _corner,
}
NAMES = tuple(SHAPES)


def draw_pictures(rng: np.random.Generator, count: int, *, noise: float = 0.12, chunk: int = 512) -> Pictures:
    """Draw pictures whose classes are multinomial, so that no position or count tells a class."""
    return draw_classes(rng, rng.integers(0, len(NAMES), count), noise=noise, chunk=chunk)


def draw_classes(
    rng: np.random.Generator, labels: NDArray[np.int64], *, noise: float = 0.12, chunk: int = 512
) -> Pictures:
    """Draw a picture for each given class; whoever gives them sees to it that their order tells nothing."""
    parts = [_draw(rng, labels[start : start + chunk], noise) for start in range(0, len(labels), chunk)]
    images = np.concatenate(parts) if parts else np.zeros((0, 3, SIZE, SIZE), np.uint8)
    return Pictures(images, labels)


def _draw(rng: np.random.Generator, labels: NDArray[np.int64], noise: float) -> NDArray[np.uint8]:
    count = len(labels)
    canvas, colour = background(rng, count)
    add_specks(rng, canvas)
    u, v = local_grid(rng, rng.uniform(7.5, 12.5, count), spread=4.0)
    mask = np.zeros_like(u, dtype=bool)
    for label, name in enumerate(NAMES):
        chosen = labels == label
        mask[chosen] = SHAPES[name](u[chosen], v[chosen])
    paint(canvas, mask, colour)
    canvas += rng.standard_normal(canvas.shape, dtype=np.float32) * np.float32(noise)
    return (np.clip(canvas, 0, 1) * 255 + 0.5).astype(np.uint8)


def add_specks(rng: np.random.Generator, canvas: Grid) -> None:
    """Paint up to two small discs that mean nothing."""
    count = len(canvas)
    for _ in range(2):
        radius = rng.uniform(1.2, 2.4, count) * rng.integers(0, 2, count)
        u, v = local_grid(rng, radius + 1e-6, spread=13.0)
        paint(canvas, _disc(u, v), rng.uniform(0, 1, (count, 3)).astype(np.float32))


def background(rng: np.random.Generator, count: int) -> tuple[Grid, Grid]:
    """Return gradient backgrounds and, for each, a colour that stands out from it."""
    ends = rng.uniform(0, 1, (2, count, 3)).astype(np.float32)
    angle = rng.uniform(0, 2 * np.pi, count)
    across, down = np.meshgrid(np.linspace(-0.5, 0.5, SIZE), np.linspace(-0.5, 0.5, SIZE))
    along = np.cos(angle)[:, None, None] * across + np.sin(angle)[:, None, None] * down
    weight = np.clip(along + 0.5, 0, 1).astype(np.float32)[:, None]
    middle = ends.mean(axis=0)
    push = rng.uniform(0.35, 0.5, (count, 3)) * np.where(middle > 0.5, -1, 1)
    canvas = ends[0][:, :, None, None] * (1 - weight) + ends[1][:, :, None, None] * weight
    return canvas * 0.7 + 0.15, np.clip(middle * 0.7 + 0.15 + push, 0, 1).astype(np.float32)


def local_grid(rng: np.random.Generator, radius: NDArray[np.float64], spread: float) -> tuple[Grid, Grid]:
    """Return each pixel's place as seen from a shape of random centre and tilt, in units of its radius."""
    count = len(radius)
    centre = rng.uniform(-spread, spread, (2, count, 1, 1)) + (SIZE - 1) / 2
    tilt = rng.uniform(-0.45, 0.45, (count, 1, 1))
    down, across = np.mgrid[0:SIZE, 0:SIZE]
    x, y = (across - centre[0]) / radius[:, None, None], (centre[1] - down) / radius[:, None, None]
    u, v = np.cos(tilt) * x + np.sin(tilt) * y, np.cos(tilt) * y - np.sin(tilt) * x
    return u.astype(np.float32), v.astype(np.float32)


def paint(canvas: Grid, mask: Mask, colour: Grid) -> None:
    np.copyto(canvas, colour[:, :, None, None], where=mask[:, None])
