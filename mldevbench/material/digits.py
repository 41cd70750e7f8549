"""Hand-like digits drawn from strokes: no picture of them exists anywhere before it is drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mldevbench.material.idx import Split

SIZE = 28
Line = list[tuple[float, float]]


def _arc(x: float, y: float, wide: float, high: float, start: float, end: float) -> Line:
    """Return points of an ellipse, angles in degrees, clockwise from the right on a page whose y points down."""
    angles = np.deg2rad(np.linspace(start, end, 10))
    return [(x + wide * float(np.cos(a)), y + high * float(np.sin(a))) for a in angles]


STROKES: dict[int, list[Line]] = {
    0: [_arc(0.5, 0.5, 0.3, 0.45, 0, 360)],
    1: [[(0.3, 0.25), (0.52, 0.05), (0.52, 0.95)]],
    2: [[*_arc(0.5, 0.3, 0.28, 0.25, 180, 390), (0.22, 0.93), (0.8, 0.93)]],
    3: [_arc(0.48, 0.28, 0.27, 0.23, 200, 450), _arc(0.48, 0.72, 0.3, 0.23, 270, 520)],
    4: [[(0.6, 0.95), (0.6, 0.05), (0.18, 0.65), (0.85, 0.65)]],
    5: [[(0.78, 0.07), (0.3, 0.07), (0.27, 0.45), *_arc(0.48, 0.67, 0.3, 0.27, 230, 510)]],
    6: [[(0.68, 0.05), (0.4, 0.3), *_arc(0.5, 0.68, 0.27, 0.26, 180, 540)]],
    7: [[(0.2, 0.08), (0.8, 0.08), (0.42, 0.95)]],
    8: [_arc(0.5, 0.28, 0.23, 0.22, 90, 450), _arc(0.5, 0.72, 0.28, 0.23, -90, 270)],
    9: [[*_arc(0.5, 0.32, 0.26, 0.26, 0, 360), (0.74, 0.6), (0.6, 0.95)]],
}


def draw_digits(rng: np.random.Generator, count: int, *, noise: float = 12.0) -> Split:
    """Draw digits whose classes are multinomial, each with its own slant, size, place, pen and unsteadiness."""
    labels = rng.integers(0, 10, count).astype(np.uint8)
    images = np.zeros((count, SIZE, SIZE), np.uint8)
    for digit in STROKES:
        chosen = np.flatnonzero(labels == digit)
        images[chosen] = _draw(rng, digit, len(chosen), noise)
    return Split(images, labels)


def _draw(rng: np.random.Generator, digit: int, count: int, noise: float) -> NDArray[np.uint8]:
    ink = np.zeros((count, SIZE, SIZE))
    pen = rng.uniform(0.9, 1.7, (count, 1, 1))
    place = _placement(rng, count)
    for line in STROKES[digit]:
        points = np.asarray(line)[None] - 0.5 + _unsteadiness(rng, count, len(line))
        placed = np.einsum("nij,npj->npi", place[:, :, :2], points) + place[:, None, :, 2]
        ink = np.maximum(ink, np.clip(pen - _distance(placed) + 0.5, 0, 1))
    ink *= rng.uniform(190, 255, (count, 1, 1))
    return np.clip(ink + np.abs(rng.normal(0, noise, ink.shape)), 0, 255).astype(np.uint8)


def _placement(rng: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Return affine maps from the unit box, centred at zero, to pixels."""
    turn, slant = rng.uniform(-0.22, 0.22, count), rng.uniform(-0.25, 0.25, count)
    wide, high = rng.uniform(13, 21, count), rng.uniform(15, 21, count)
    shift = rng.uniform(-2.2, 2.2, (count, 2)) + (SIZE - 1) / 2
    cos, sin = np.cos(turn), np.sin(turn)
    rows = [
        [cos * wide, (cos * slant - sin) * high, shift[:, 0]],
        [sin * wide, (sin * slant + cos) * high, shift[:, 1]],
    ]
    return np.stack([np.stack(row, axis=1) for row in rows], axis=1)


def _unsteadiness(rng: np.random.Generator, count: int, points: int) -> NDArray[np.float64]:
    """Return a slow wave and a small jitter for the points of a stroke."""
    along = np.linspace(0, 2 * np.pi, points)[None, :, None]
    phase, size = rng.uniform(0, 2 * np.pi, (count, 1, 2)), rng.uniform(0, 0.06, (count, 1, 2))
    return size * np.sin(along + phase) + rng.normal(0, 0.012, (count, points, 2))


def _distance(points: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return every pixel's distance from a line through the points, one line per image."""
    down, across = np.mgrid[0:SIZE, 0:SIZE].reshape(2, 1, -1).astype(np.float32)
    x, y = points.astype(np.float32).transpose(2, 1, 0)[..., None]
    nearest = np.full((len(points), SIZE * SIZE), np.inf, np.float32)
    for start in range(points.shape[1] - 1):
        right, below = across - x[start], down - y[start]
        step_x, step_y = x[start + 1] - x[start], y[start + 1] - y[start]
        reach = np.clip((right * step_x + below * step_y) / (step_x**2 + step_y**2 + 1e-9), 0, 1)
        np.minimum(nearest, (right - reach * step_x) ** 2 + (below - reach * step_y) ** 2, out=nearest)
    return np.sqrt(nearest).reshape(-1, SIZE, SIZE)
