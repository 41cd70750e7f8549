"""Void runs: how far they could move a rate, and whether they favour one agent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mldevbench.stats.contingency import fisher
from mldevbench.stats.interval import Interval


def void_bounds(passes: Sequence[int], judged: Sequence[int], voids: Sequence[int]) -> Interval:
    """Return the rate as if every void run had failed, and as if every one had passed; tasks weigh the same."""
    passed, lost = np.asarray(passes, float), np.asarray(voids, float)
    total = np.asarray(judged, float) + lost
    if not total.any():
        return Interval(float("nan"), float("nan"))
    kept = total > 0
    low = (passed[kept] / total[kept]).mean()
    return Interval(float(low), float(((passed + lost)[kept] / total[kept]).mean()))


def void_favour(voids: Sequence[int], totals: Sequence[int]) -> float:
    """Return the exact p that void runs fall on all agents alike."""
    return fisher(voids, totals)
