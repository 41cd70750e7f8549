# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Problems as plain numbers, and the right trees for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Place:
    """A node of the right tree; children stand in the order in which they were tried."""

    index: int
    depth: int
    above: Place | None = None
    visits: int = 0
    total: float = 0.0
    children: list[Place] = field(default_factory=list)


def tree(problem: Mapping[str, Any]) -> list[list[Any]]:
    """Return [index, visits, total] of every node that the search makes, sorted by index."""
    branch, rewards = problem["branch"], problem["rewards"]
    root = Place(0, 0)
    for _ in range(problem["simulations"]):
        place = root
        while place.depth < problem["depth"] and len(place.children) == branch:
            place = _best(place, problem["exploration"])
        if place.depth < problem["depth"]:
            place.children.append(Place(place.index * branch + 1 + len(place.children), place.depth + 1, place))
            place = place.children[-1]
        reward, up = rewards[place.index], place
        while up is not None:
            up.visits, up.total, up = up.visits + 1, up.total + reward, up.above
    return sorted(_listed(root))


def _best(place: Place, exploration: float) -> Place:
    bounds = [
        child.total / child.visits + exploration * math.sqrt(math.log(place.visits) / child.visits)
        for child in place.children
    ]
    return place.children[bounds.index(max(bounds))]


def _listed(place: Place) -> list[list[Any]]:
    return [[place.index, place.visits, place.total], *(row for child in place.children for row in _listed(child))]


def best_first(problem: Mapping[str, Any]) -> int:
    """Return the number of the first action on the way to the greatest final reward."""
    branch, depth = problem["branch"], problem["depth"]
    start = sum(branch**level for level in range(depth))
    final = problem["rewards"][start:]
    return final.index(max(final)) // branch ** (depth - 1)
