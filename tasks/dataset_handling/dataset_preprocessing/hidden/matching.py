# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Explain an augmented image by a base image: over flips, rotations, shifts and a linear change of colours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SIZE, WINDOW, REACH = 32, 20, 4
ANGLES = tuple(range(-15, 16, 3))
SHIFTS = tuple((down, right) for down in range(-REACH, REACH + 1) for right in range(-REACH, REACH + 1))


class Explanation(NamedTuple):
    """The best of all variations of one base image, as seen through the window."""

    unexplained: float  # share of the variance
    fitted: np.ndarray  # (3, WINDOW, WINDOW)
    moved: np.ndarray  # the same before its colours were fitted

    def colours(self) -> tuple[float, float]:
        """Return how the fitted colours go with the image's own: their correlation, and the ratio of their spreads."""
        fitted, moved = (part - part.mean(axis=(1, 2), keepdims=True) for part in (self.fitted, self.moved))
        ours, theirs = (max(float(np.linalg.norm(part)), 1e-9) for part in (fitted, moved))
        return float((fitted * moved).sum()) / (ours * theirs), ours / theirs


def explain(bases: np.ndarray, images: np.ndarray) -> list[list[Explanation]]:
    """Return for each image what each base explains of it: one list per image, one entry per base."""
    targets = window(smooth(images)).reshape(len(images) * 3, -1).astype(np.float32)
    found = [_explain_by(base, targets) for base in bases]
    return [[row[number] for row in found] for number in range(len(images))]


def window(images: np.ndarray, down: int = 0, right: int = 0) -> np.ndarray:
    start = (SIZE - WINDOW) // 2
    return images[..., start + down : start + down + WINDOW, start + right : start + right + WINDOW]


def smooth(images: np.ndarray) -> np.ndarray:
    """Average over 3 x 3 pixels; edges repeat."""
    padded = np.pad(images, [(0, 0)] * (images.ndim - 2) + [(1, 1), (1, 1)], mode="edge")
    rows = padded[..., :-2, :] + padded[..., 1:-1, :] + padded[..., 2:, :]
    return (rows[..., :-2] + rows[..., 1:-1] + rows[..., 2:]) / 9


def _explain_by(base: np.ndarray, targets: np.ndarray) -> list[Explanation]:
    """Fit every target's channels by the channels of every variation and a constant."""
    columns = _variations(base)
    across = columns.transpose(0, 2, 1)
    gram = across @ columns + np.float32(1e-4) * np.eye(4, dtype=np.float32)
    cross = across @ targets.T
    weights = np.linalg.solve(gram, cross)
    left = (targets**2).sum(axis=1) - (cross * weights).sum(axis=1)
    left = np.maximum(left, 0).reshape(len(columns), -1, 3).sum(axis=2)
    spread = ((targets - targets.mean(axis=1, keepdims=True)) ** 2).sum(axis=1).reshape(-1, 3).sum(axis=1) + 1e-9
    best = left.argmin(axis=0)
    return [
        Explanation(
            float(left[choice, number] / spread[number]),
            (columns[choice] @ weights[choice, :, 3 * number : 3 * number + 3]).T.reshape(3, WINDOW, WINDOW),
            columns[choice, :, :3].T.reshape(3, WINDOW, WINDOW),
        )
        for number, choice in enumerate(best)
    ]


def _variations(base: np.ndarray) -> np.ndarray:
    """Return (variations, pixels, 4): the three channels of each variation, and ones."""
    turned = [smooth(_turn(side, angle)) for side in (base, base[:, :, ::-1]) for angle in ANGLES]
    seen = [window(image, down, right).reshape(3, -1).T for image in turned for down, right in SHIFTS]
    stacked = np.stack(seen).astype(np.float32)
    return np.concatenate([stacked, np.ones((*stacked.shape[:2], 1), np.float32)], axis=2)


def _turn(image: np.ndarray, degrees: float) -> np.ndarray:
    """Rotate about the centre, bilinear; what comes from outside repeats the edge."""
    if not degrees:
        return image
    centre, angle = (SIZE - 1) / 2, np.deg2rad(degrees)
    down, right = np.mgrid[0:SIZE, 0:SIZE] - centre
    y = np.clip(np.cos(angle) * down - np.sin(angle) * right + centre, 0, SIZE - 1.001)
    x = np.clip(np.sin(angle) * down + np.cos(angle) * right + centre, 0, SIZE - 1.001)
    top, side = y.astype(int), x.astype(int)
    below, beside = y - top, x - side
    upper = image[:, top, side] * (1 - beside) + image[:, top, side + 1] * beside
    lower = image[:, top + 1, side] * (1 - beside) + image[:, top + 1, side + 1] * beside
    return upper * (1 - below) + lower * below
