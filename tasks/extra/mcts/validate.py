# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare bounds, whole trees and decisions of the submitted search with those of a reference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, at_least, check, close, equal, metric, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HIDDEN = Path(__file__).parent / "hidden"
MODULE = "mcts.py"
ROLLOUTS = 3000  # per seed, as in the probe


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(MODULE, submission.has(MODULE), f"a file {MODULE}", "none")
    reference = plugin.load(HIDDEN / "reference.py")
    inputs = _inputs(draw.rng("held-out problems"), profile)
    with Room(submission, files=[MODULE]) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    yield from _judge_bounds(inputs["bounds"], answers.get("bounds"))
    for number, problem in enumerate(inputs["trees"]):
        yield from _judge_tree(reference.tree(problem), answers, number, profile["tolerance"])
    yield equal("depth limit of rollouts", answers.get("endless"), [float(limit) for limit in inputs["limits"]])
    yield from _judge_rollouts(inputs, answers)
    yield equal("most visited action", answers.get("most visited"), _most_visited(inputs), show_expected=False)
    yield from _judge_decisions(reference, inputs, answers.get("decisions"), profile["min_solved"])


def _inputs(rng: np.random.Generator, profile: Mapping[str, Any]) -> dict[str, Any]:
    visits = rng.integers(1, 30, (6, 2))
    return {
        "seed": int(rng.integers(1 << 30)),
        "bounds": [
            [int(child + rest), int(child), float(rng.normal()), float(rng.uniform(0.2, 3))] for child, rest in visits
        ]
        + [[4, 0, 0.0, 1.0]],
        "trees": [*(_random_tree(rng, *profile["simulations"]) for _ in range(profile["trees"] - 1)), _even_tree(rng)],
        "limits": [int(limit) for limit in rng.integers(1, 90, 4)],
        "flat": _flat(rng),
        "rollout seeds": [int(seed) for seed in rng.choice(10**6, 2, replace=False)] * 2,
        "visits": _visits(rng),
        "problems": [_deceptive(rng) for _ in range(profile["problems"])],
    }


def _names(rng: np.random.Generator, count: int) -> list[str]:
    return [f"action {number}" for number in rng.choice(1000, count, replace=False)]


def _random_tree(rng: np.random.Generator, low: int, high: int) -> dict[str, Any]:
    """Draw a tree; few different rewards, so that bounds are often equal."""
    branch, depth = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    count = sum(branch**level for level in range(depth + 1))
    return {
        "branch": branch,
        "depth": depth,
        "names": _names(rng, branch),
        "rewards": [float(value) for value in rng.integers(-2, 4, count) / 2],
        "simulations": int(rng.integers(low, high)),
        "exploration": float(rng.uniform(0.5, 2.0)),
    }


def _even_tree(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a tree whose rewards are all equal, searched just so far that the first tie decides where it ends."""
    drawn = _random_tree(rng, 1, 2)
    return {**drawn, "rewards": [0.5] * len(drawn["rewards"]), "simulations": drawn["branch"] + 1}


def _flat(rng: np.random.Generator) -> dict[str, Any]:
    branch = int(rng.integers(3, 5))
    rewards = [-1.0, *(float(number) for number in range(branch))]
    return {"branch": branch, "depth": 1, "names": _names(rng, branch), "rewards": rewards}


def _visits(rng: np.random.Generator) -> list[list[int]]:
    """Draw visits of the first two actions, both ways round, so that no constant answer is right; some are equal."""
    drawn = [[int(value) for value in rng.permutation(np.arange(2, 20))[:2]] for _ in range(3)]
    return [*drawn, *(pair[::-1] for pair in drawn), [7, 7], [3, 3]]


def _deceptive(rng: np.random.Generator) -> dict[str, Any]:
    """Draw a problem whose best end lies below the action with the lowest mean, among poor ones."""
    branch, depth = int(rng.integers(2, 4)), 3
    inner = sum(branch**level for level in range(depth))
    below = branch ** (depth - 1)
    best = int(rng.integers(branch))
    ends = rng.uniform(0.3, 0.45, branch**depth)
    ends[best * below : (best + 1) * below] = rng.uniform(0.0, 0.1, below)
    ends[best * below + int(rng.integers(below))] = 1.0
    return {
        "branch": branch,
        "depth": depth,
        "names": _names(rng, branch),
        "rewards": [0.0] * inner + [float(value) for value in ends],
        "exploration": 1.0,
        "seed": int(rng.integers(1 << 30)),
    }


def _judge_bounds(given: list[list[Any]], seen: Any) -> Iterator[Check]:
    right = [
        total / visits + weight * math.sqrt(math.log(above) / visits) if visits else "infinity"
        for above, visits, total, weight in given
    ]
    fits = isinstance(seen, list) and len(seen) == len(right)
    yield require("bounds", fits, f"{len(right)} bounds", str(seen)[:100])
    yield close("bounds of visited nodes", seen[:-1], right[:-1], tolerance=1e-9)
    yield equal("bound of a node without visits", seen[-1], "infinity")


def _judge_tree(right: list[list[Any]], answers: Mapping[str, Any], number: int, tolerance: float) -> Iterator[Check]:
    trees: Any = answers.get("trees")
    fits = isinstance(trees, list) and len(trees) > number and isinstance(trees[number], list)
    yield require(f"tree {number}", fits and len(trees[number]) == 2, "a tree", str(trees)[:80])
    start, rows = trees[number]
    yield equal(f"given state after search {number}", start, 0)
    plain = isinstance(rows, list) and all(isinstance(row, list) and len(row) == 3 for row in rows)
    yield require(f"tree {number}", plain, "nodes", str(rows)[:80])
    counts = [row[:2] for row in rows]
    wanted = [row[:2] for row in right]
    yield check(f"nodes and visits of tree {number}", counts == wanted, "the right ones", f"{len(rows)} nodes")
    yield close(f"totals of tree {number}", [row[2] for row in rows], [row[2] for row in right], tolerance=tolerance)


def _judge_rollouts(inputs: Mapping[str, Any], answers: Mapping[str, Any]) -> Iterator[Check]:
    branch = inputs["flat"]["branch"]
    seen: Any = answers.get("rollouts")
    yield equal("given state after rollouts", answers.get("rollout start"), [0, 0])
    fits = isinstance(seen, list) and len(seen) == 4
    fits = fits and all(isinstance(row, list) and len(row) == ROLLOUTS for row in seen)
    yield require("rollouts", fits, "rewards of all rollouts", str(seen)[:80])
    first, other, again, other_again = seen
    shares = [(first + other).count(float(number)) / (2 * ROLLOUTS) * branch for number in range(branch)]
    yield check(
        "uniform rollouts",
        all(0.8 <= share <= 1.2 for share in shares),
        "each action between 0.8 and 1.2 times its share",
        f"{min(shares):.2f} to {max(shares):.2f}",
    )
    same = first == again and other == other_again
    yield check("rollouts of the same seed", same, "the same", "the same" if same else "others")
    yield check("rollouts of another seed", first != other, "others", "the same" if first == other else "others")


def _most_visited(inputs: Mapping[str, Any]) -> list[str]:
    names = inputs["trees"][0]["names"]
    return [names[row.index(max(row))] for row in inputs["visits"]]


def _judge_decisions(reference: Any, inputs: Mapping[str, Any], seen: Any, bound: int) -> Iterator[Check | Metric]:
    right = [problem["names"][reference.best_first(problem)] for problem in inputs["problems"]]
    yield require("decisions", isinstance(seen, list) and len(seen) == len(right), "one per problem", str(seen)[:80])
    solved = sum(given == wanted for given, wanted in zip(seen, right, strict=True))
    yield metric("solved", solved)
    yield at_least("solved problems", solved, bound)
