"""What repeats of a task say together: pass@k, pass^k, score@k, consistency; unbiased, undefined where n < k."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def pass_at_k(total: int, passed: int, k: int) -> float:
    """Return the chance that at least one of k runs passes, an oracle choosing; NaN with fewer than k runs."""
    return float("nan") if total < k else 1 - math.comb(total - passed, k) / math.comb(total, k)


def pass_all_k(total: int, passed: int, k: int) -> float:
    """Return pass^k, the chance that all of k runs pass; NaN with fewer than k runs."""
    return float("nan") if total < k else math.comb(passed, k) / math.comb(total, k)


def score_at_k(scores: Sequence[float], k: int) -> float:
    """Return the expected best of k scores drawn without replacement; NaN with fewer than k scores."""
    ordered, total = np.sort(np.asarray(scores, float)), len(scores)
    if total < k:
        return float("nan")
    weights = [math.comb(place - 1, k - 1) / math.comb(total, k) for place in range(1, total + 1)]
    return float(ordered @ np.asarray(weights))


def mean_over_tasks(totals: Sequence[int], passes: Sequence[int], k: int) -> tuple[float, float]:
    """Return pass@k and pass^k averaged over the tasks that have k runs."""
    pairs = [(n, c) for n, c in zip(totals, passes, strict=True) if n >= k]
    if not pairs:
        return float("nan"), float("nan")
    return (
        float(np.mean([pass_at_k(n, c, k) for n, c in pairs])),
        float(np.mean([pass_all_k(n, c, k) for n, c in pairs])),
    )


def largest_k(totals: Sequence[int]) -> int:
    """Return the largest k worth showing: beyond half the runs the estimate hangs on a few of them."""
    return max(1, min(totals, default=0) // 2)


def consistency(total: int, passed: int) -> float:
    """Return an unbiased estimate of (2p - 1)^2; it may be negative for one task and is averaged over many."""
    if total < 2:
        return float("nan")
    rate = passed / total
    return 1 - 4 * total / (total - 1) * rate * (1 - rate)


def plug_in_consistency(total: int, passed: int) -> float:
    """Return (2p - 1)^2 of the observed rate, which calls a coin consistent; kept for comparison with others."""
    return (2 * passed / total - 1) ** 2
