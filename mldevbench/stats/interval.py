"""Intervals for one proportion; the Wald interval is left out on purpose, its coverage falls to 0.06 at n = 3."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

CONFIDENCE = 0.95


class Interval(NamedTuple):
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def clipped(self, low: float = 0.0, high: float = 1.0) -> Interval:
        return Interval(max(self.low, low), min(self.high, high))


def normal_quantile(confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of the normal distribution."""
    return float(special.ndtri(0.5 + confidence / 2))


def student_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """Return the two-sided quantile of Student's distribution."""
    return float(special.stdtrit(degrees, 0.5 + confidence / 2))


def wilson(passed: float, total: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the score interval: the default for a rate of independent runs."""
    _check(passed, total)
    z = normal_quantile(confidence)
    rate = passed / total
    middle = rate + z**2 / (2 * total)
    spread = z * np.sqrt(rate * (1 - rate) / total + z**2 / (4 * total**2))
    scale = 1 + z**2 / total
    low = 0.0 if passed == 0 else (middle - spread) / scale
    high = 1.0 if passed == total else (middle + spread) / scale
    return Interval(float(low), float(high))


def clopper_pearson(passed: float, total: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the interval that covers at least as often as it says, and is wide for it."""
    _check(passed, total)
    tail = (1 - confidence) / 2
    low = 0.0 if passed == 0 else special.betaincinv(passed, total - passed + 1, tail)
    high = 1.0 if passed == total else special.betaincinv(passed + 1, total - passed, 1 - tail)
    return Interval(float(low), float(high))


def jeffreys(passed: float, total: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the equal-tailed interval of the Beta(1/2, 1/2) prior, closed at the edges."""
    _check(passed, total)
    low, high = beta_interval(passed + 0.5, total - passed + 0.5, confidence)
    return Interval(0.0 if passed == 0 else low, 1.0 if passed == total else high)


def uniform_prior(passed: float, total: float, confidence: float = CONFIDENCE) -> Interval:
    """Return the equal-tailed interval of the Beta(1, 1) prior."""
    _check(passed, total)
    return beta_interval(passed + 1, total - passed + 1, confidence)


def beta_interval(alpha: float, beta: float, confidence: float = CONFIDENCE) -> Interval:
    tail = (1 - confidence) / 2
    low, high = special.betaincinv(alpha, beta, [tail, 1 - tail])
    return Interval(float(low), float(high))


def _check(passed: float, total: float) -> None:
    if not 0 <= passed <= total or total < 1:
        raise ValueError(f"{passed} of {total} is no proportion")
