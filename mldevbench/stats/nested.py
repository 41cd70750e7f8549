"""Variance components of nested levels (task, instance, seed, validator), balanced or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

Tree: TypeAlias = "float | Sequence[Tree]"


@dataclass
class _Level:
    """What the nodes of one level contribute: how their children's means vary, and how noisy those means are."""

    variances: list[float] = field(default_factory=list)
    noises: list[float] = field(default_factory=list)


def nested_components(tree: Sequence[Tree], depth: int) -> list[float | None]:
    """Return the component of each level, outermost first; None where no node has two children.

    A level's component is the variance of its children's means less the noise that those means carry. Balanced,
    that is the nested analysis of variance. It is clipped at 0.
    """
    levels = [_Level() for _ in range(depth)]
    _visit(tree, 0, levels)
    found: list[float | None] = []
    for level in levels:
        known = [noise for noise in level.noises if not np.isnan(noise)]
        noise = float(np.mean(known)) if known else 0.0
        found.append(max(float(np.mean(level.variances)) - noise, 0.0) if level.variances else None)
    return found


def _visit(node: Tree, depth: int, levels: list[_Level]) -> tuple[float, float]:
    """Return a node's mean and the noise variance of that mean (NaN where one child can't tell)."""
    if depth == len(levels):
        assert not isinstance(node, Sequence)
        return float(node), 0.0
    assert isinstance(node, Sequence)
    children = [_visit(child, depth + 1, levels) for child in node]
    means = np.array([mean for mean, _ in children])
    if len(children) < 2:
        return float(means.mean()), children[0][1] if depth + 1 < len(levels) else float("nan")
    variance = float(means.var(ddof=1))
    levels[depth].variances.append(variance)
    levels[depth].noises.append(float(np.mean([noise for _, noise in children])))
    return float(means.mean()), variance / len(children)
