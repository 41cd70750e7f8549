"""Inference that stays valid when one looks after every run."""

from __future__ import annotations

import numpy as np
from scipy import special

from mldevbench.stats.interval import CONFIDENCE, Interval


def confidence_sequence(passed: int, total: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the rates whose prior-to-posterior ratio under a uniform prior stays under 1/alpha.

    Waudby-Smith and Ramdas 2020; the intervals of all looks together cover with this confidence.
    """
    from scipy.optimize import brentq

    bound = -np.log1p(-confidence)

    def excess(rate: float) -> float:
        density = special.xlogy(passed, rate) + special.xlog1py(total - passed, -rate)
        return -(density - special.betaln(1 + passed, 1 + total - passed)) - bound

    if total == 0:
        return Interval(0.0, 1.0)
    mode, edge = passed / total, 1e-300
    low = 0.0 if passed == 0 else brentq(excess, edge, mode, xtol=1e-14)
    high = 1.0 if passed == total else brentq(excess, mode, np.nextafter(1.0, 0.0), xtol=1e-14)
    return Interval(float(low), float(high))  # pyright: ignore[reportArgumentType] - brentq without full_output


def anytime_paired(only_first: int, only_second: int) -> float:
    """Return a p-value for "equal on every task" from seed-paired discordant runs, valid at every look."""
    discordant = only_first + only_second
    log_evidence = discordant * np.log(2) + special.betaln(only_first + 1, only_second + 1)
    return float(min(1.0, np.exp(-log_evidence)))


def look_confidence(looks: int, confidence: float = CONFIDENCE) -> float:
    """Return the confidence that each of several declared looks may use."""
    return 1 - (1 - confidence) / looks
