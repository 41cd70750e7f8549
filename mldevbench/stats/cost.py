"""Cost beside success: dollars per success, paired cost ratios, the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mldevbench.stats.bootstrap import draw_tasks
from mldevbench.stats.interval import Interval


@dataclass(frozen=True)
class PerSuccess:
    """Cost per success; infinite without a success, `spent` then is its lower bound."""

    ratio: float
    error: float
    spent: float


def cost_per_success(costs: npt.ArrayLike, successes: npt.ArrayLike) -> PerSuccess:
    """Return the ratio of sums over tasks with its delta-method error."""
    cost, success = np.asarray(costs, float), np.asarray(successes, float)
    spent, tasks = float(cost.sum()), len(cost)
    if success.sum() == 0:
        return PerSuccess(float("inf"), float("nan"), spent)
    ratio = spent / float(success.sum())
    if tasks < 2:
        return PerSuccess(ratio, float("nan"), spent)
    residual = float(((cost - ratio * success) ** 2).sum()) / (tasks - 1) / tasks
    return PerSuccess(ratio, float(np.sqrt(residual) / success.mean()), spent)


@dataclass(frozen=True)
class CostRatio:
    """The geometric mean of second over first, with Wilcoxon's signed-rank p and the interval of the log ratio."""

    ratio: float
    p_value: float
    interval: Interval
    tasks: int


def cost_ratio(first: npt.ArrayLike, second: npt.ArrayLike) -> CostRatio:
    """Compare what two agents cost on the same tasks; both must have cost something on each."""
    from scipy.stats import wilcoxon

    from mldevbench.stats.paired import paired_t

    logs = np.log(np.asarray(second, float)) - np.log(np.asarray(first, float))
    mean = paired_t(logs)
    p_value = float(wilcoxon(logs).pvalue) if np.any(logs) else 1.0  # pyright: ignore[reportAttributeAccessIssue]
    interval = Interval(*(float(np.exp(edge)) for edge in mean.interval))
    return CostRatio(float(np.exp(mean.mean)), p_value, interval, len(logs))


Point = tuple[float, float]


def pareto(points: Sequence[Point]) -> list[int]:
    """Return the places of the points (cost, success) that no other one beats, cheapest first."""
    order = sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1]))
    front: list[int] = []
    for place in order:
        if not front or points[place][1] > points[front[-1]][1]:
            front.append(place)
    return front


def hypervolume(points: Sequence[Point], reference: Point) -> float:
    """Return the area that the front dominates, up to a reference cost and down to a reference success."""
    front = [points[place] for place in pareto(points) if points[place][0] < reference[0]]
    edges = [cost for cost, _ in front[1:]] + [reference[0]]
    return sum((edge - cost) * (success - reference[1]) for (cost, success), edge in zip(front, edges, strict=True))


def pareto_membership(costs: npt.ArrayLike, successes: npt.ArrayLike, draws: int = 1000) -> list[float]:
    """Return how often each agent is on the front when tasks are drawn again; rows are agents, columns tasks."""
    cost, success = np.asarray(costs, float), np.asarray(successes, float)
    hits = np.zeros(len(cost))
    for chosen in draw_tasks(cost.shape[1], draws):
        drawn = list(zip(cost[:, chosen].mean(axis=1), success[:, chosen].mean(axis=1), strict=True))
        hits[pareto(drawn)] += 1
    return (hits / draws).tolist()
