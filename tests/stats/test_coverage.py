"""Nominal 95 % intervals cover their declared target; intervals of pooled runs do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mldevbench.stats.interval import wilson
from mldevbench.stats.panel import Panel
from mldevbench.stats.rate import Target, estimate

TASKS, SEEDS, STUDIES = 30, 5, 2000


def beta_rates(rng: np.random.Generator) -> np.ndarray:
    return rng.beta(0.8, 1.0, TASKS)


def mixed_rates(rng: np.random.Generator) -> np.ndarray:
    """A third of the tasks is impossible, a fifth easy, the rest anything."""
    kind = rng.random(TASKS)
    rates = np.where(kind < 0.35, 0.0, rng.random(TASKS))
    return np.where(kind > 0.80, rng.beta(18, 2, TASKS), rates)


GENERATORS = {"beta": (beta_rates, 0.8 / 1.8), "mixed": (mixed_rates, 0.45 * 0.5 + 0.20 * 0.9)}


@pytest.mark.slow
@pytest.mark.parametrize("generator", GENERATORS)
def test_intervals_cover_their_target(generator: str) -> None:
    draw, expected = GENERATORS[generator]
    shares = _coverage(draw, expected)
    assert 0.93 <= shares["fixed"] <= 0.97
    assert 0.93 <= shares["population"] <= 0.97
    assert shares["pooled, population"] < 0.90
    assert shares["pooled, fixed"] > 0.97


def _coverage(draw: Callable[[np.random.Generator], np.ndarray], expected: float) -> dict[str, float]:
    rng = np.random.default_rng(12)
    hits = dict.fromkeys(("fixed", "population", "pooled, fixed", "pooled, population"), 0)
    for _ in range(STUDIES):
        rates = draw(rng)
        panel = Panel.of(rng.random((TASKS, SEEDS)) < rates[:, None])
        truths = {"fixed": float(rates.mean()), "population": expected}
        pooled = wilson(float(panel.passes.sum()), TASKS * SEEDS)
        for name, truth in truths.items():
            interval = estimate(panel, Target(name)).interval
            assert interval
            hits[name] += interval.low <= truth <= interval.high
            hits[f"pooled, {name}"] += pooled.low <= truth <= pooled.high
    return {name: count / STUDIES for name, count in hits.items()}
