"""Readings of a cost that follows a load: a line plus a logarithm, on a scale that is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Law:
    """cost = slope * load + bend * log(1 + load) + base, up to noise."""

    slope: float
    bend: float
    base: float
    largest: float  # loads go from zero up to this
    noise: float

    def __call__(self, load: Values) -> Values:
        return self.slope * load + self.bend * np.log1p(load) + self.base


def draw_law(rng: np.random.Generator, smallest: float, largest: float) -> Law:
    """Draw a law whose loads reach a value between the two; its logarithm is too strong to be left out."""
    reach = float(np.exp(rng.uniform(np.log(smallest), np.log(largest))))
    level = float(np.exp(rng.uniform(np.log(5), np.log(500))))
    slope, bend = level * rng.uniform(0.8, 1.2) / reach, level * rng.uniform(2.5, 3.5) / np.log1p(reach)
    return Law(float(slope), float(bend), float(level * rng.uniform(-1, 1)), reach, level * 0.02)


def draw_loads(rng: np.random.Generator, law: Law, count: int) -> Values:
    """Draw loads of which some are exactly zero, as idle hours are."""
    loads = rng.uniform(0, law.largest, count).round(3)
    loads[rng.permutation(count)[: max(1, count // 25)]] = 0.0
    return loads


def draw_file(rng: np.random.Generator, law: Law, count: int) -> tuple[bytes, Values, Values]:
    """Return a file of readings, and its loads and costs as they stand in it."""
    loads = draw_loads(rng, law, count)
    costs = (law(loads) + rng.normal(0, law.noise, count)).round(6)
    lines = [f"{load:.3f},{cost:.6f}" for load, cost in zip(loads, costs, strict=True)]
    return "\n".join(["load,cost", *lines, ""]).encode(), loads, costs
