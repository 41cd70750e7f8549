"""Sizes of a small image classifier, drawn within a profile's bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class Sizes(NamedTuple):
    image_size: int
    channels: tuple[int, int]
    classes: int


def draw_sizes(rng: np.random.Generator, profile: Mapping[str, Any]) -> Sizes:
    """Draw an even image side, two widths and a number of classes; upper bounds are left out."""
    side = int(rng.integers(*profile["image_sizes"])) // 2 * 2
    first, second = (int(rng.integers(*bounds)) for bounds in profile["channels"])
    return Sizes(side, (first, second), int(rng.integers(*profile["classes"])))
