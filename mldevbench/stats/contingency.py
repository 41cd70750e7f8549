"""Exact tests of tables: does an outcome depend on the agent, or on the node?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

ENUMERATED = 200_000
DRAWN = 20_000


def fisher(passes: Sequence[int], totals: Sequence[int]) -> float:
    """Return Fisher's exact p that all groups share one rate; drawn tables where there are too many."""
    groups = [(passed, total) for passed, total in zip(passes, totals, strict=True) if total]
    hits = sum(passed for passed, _ in groups)
    if len(groups) < 2 or hits in (0, sum(total for _, total in groups)):
        return 1.0
    seen = _weight([passed for passed, _ in groups], [total for _, total in groups])
    sizes = [total for _, total in groups]
    if math.prod(size + 1 for size in sizes[:-1]) > ENUMERATED:
        return _drawn(sizes, hits, seen)
    weights = [_weight(table, sizes) for table in _tables(sizes, hits)]
    return min(1.0, sum(w for w in weights if w <= seen * (1 + 1e-9)) / sum(weights))


def _weight(passes: Sequence[int], sizes: Sequence[int]) -> float:
    return math.prod(math.comb(size, passed) for passed, size in zip(passes, sizes, strict=True))


def _tables(sizes: Sequence[int], hits: int) -> Iterator[list[int]]:
    if len(sizes) == 1:
        if hits <= sizes[0]:
            yield [hits]
        return
    for first in range(min(sizes[0], hits) + 1):
        for rest in _tables(sizes[1:], hits - first):
            yield [first, *rest]


def _drawn(sizes: Sequence[int], hits: int, seen: float) -> float:
    drawn = np.random.default_rng(0).multivariate_hypergeometric(sizes, hits, DRAWN)
    extreme = sum(_weight([int(n) for n in table], sizes) <= seen * (1 + 1e-9) for table in drawn)
    return (extreme + 1) / (DRAWN + 1)
