"""Variance components of nested levels (task, instance, seed, validator), balanced or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

Tree: TypeAlias = "float | Sequence[Tree]"


@dataclass(frozen=True)
class _Node:
    """The mean of what lies below, and the noise that this mean carries."""

    mean: float
    noise: float


def nested_components(tree: Sequence[Tree], depth: int) -> list[float | None]:
    """Return the component of each level, outermost first; None where nothing was repeated.

    A level's component is the variance of its children's means less the noise that those means carry. Balanced,
    that is the nested analysis of variance. It is clipped at 0.
    """
    groups = _groups([tree], depth)
    nodes = [[_Node(float(leaf), 0.0) for leaf in group] for group in groups[-1]]
    found: list[float | None] = []
    for level in reversed(range(depth)):
        component = _component(nodes)
        found.append(None if component is None else max(component, 0.0))
        parents = [_merged(children, component or 0.0) for children in nodes]
        if level:
            nodes = _regrouped(parents, [len(group) for group in groups[level - 1]])
    return found[::-1]


def _groups(nodes: list[Sequence[Tree]], depth: int) -> list[list[Sequence[float]]]:
    """Return the children of every node, level by level."""
    levels = []
    for _ in range(depth):
        levels.append(nodes)
        nodes = [child for node in nodes for child in node if isinstance(child, Sequence)]
    return levels


def _component(nodes: Sequence[Sequence[_Node]]) -> float | None:
    repeated = [children for children in nodes if len(children) > 1]
    if not repeated:
        return None
    each = [
        np.var([child.mean for child in children], ddof=1) - np.mean([child.noise for child in children])
        for children in repeated
    ]
    return float(np.mean(each))


def _merged(children: Sequence[_Node], component: float) -> _Node:
    noise = (component + float(np.mean([child.noise for child in children]))) / len(children)
    return _Node(float(np.mean([child.mean for child in children])), noise)


def _regrouped(nodes: Sequence[_Node], sizes: Sequence[int]) -> list[list[_Node]]:
    edges = np.cumsum([0, *sizes]).tolist()
    return [list(nodes[start:stop]) for start, stop in pairwise(edges)]
