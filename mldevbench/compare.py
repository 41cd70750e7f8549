"""Comparison: paired differences of two labels, with exact tests, intervals, costs and what flipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from mldevbench.errors import UserError
from mldevbench.pairing import Pair, Wish, pair
from mldevbench.rates import Rate, by_task, judged, outcomes, panel_of, rate_of
from mldevbench.records import Outcome, RunRow
from mldevbench.stats.cost import CostRatio, PerSuccess, cost_per_success, cost_ratio
from mldevbench.stats.interval import Interval, student_quantile
from mldevbench.stats.multiplicity import holm
from mldevbench.stats.paired import mcnemar, paired_t, sign_flip, tango
from mldevbench.stats.power import detectable_effect
from mldevbench.stats.rate import within_error
from mldevbench.stats.void import void_favour
from mldevbench.subject import Subject


@dataclass(frozen=True)
class TaskDifference:
    task: str
    first: float
    second: float

    @property
    def difference(self) -> float:
        return self.first - self.second


@dataclass(frozen=True)
class PairedTest:
    method: str
    p_value: float
    holm: float


@dataclass(frozen=True)
class Costs:
    """Dollars per success of each, and the second's cost over the first's on the tasks where both are known."""

    first: PerSuccess | None
    second: PerSuccess | None
    ratio: CostRatio | None


@dataclass(frozen=True)
class Comparison:
    """The first label less the second, over the tasks that both ran."""

    first: Rate
    second: Rate
    tasks: tuple[TaskDifference, ...]
    difference: float
    test: PairedTest
    population: Interval
    population_method: str
    fixed: Interval | None
    detectable: float | None
    voids: tuple[int, int]
    void_bounds: Interval
    void_p: float
    costs: Costs
    notes: tuple[str, ...]


def compare(subjects: Sequence[Subject], wish: Wish) -> list[Comparison]:
    """Compare all pairs; the p-values are corrected by Holm for their number."""
    pairs = [pair(first, second, wish) for first, second in combinations(subjects, 2)]
    found = [compare_pair(one) for one in pairs]
    corrected = holm([one.test.p_value for one in found])
    return [replace(one, test=replace(one.test, holm=value)) for one, value in zip(found, corrected, strict=True)]


def compare_pair(pair: Pair, costs: bool = True) -> Comparison:
    """Compare one pair; what each cost is left out where nobody asks for it."""
    tasks = task_differences(pair)
    if not tasks:
        raise UserError(f"{pair.first.name} and {pair.second.name}: on every common task one has only void runs")
    kept = {one.task for one in tasks}
    sides = [[row for row in side.rows if row.task in kept] for side in (pair.first, pair.second)]
    differences = np.array([one.difference for one in tasks])
    interval, method = population_interval(differences, sides)
    lost = sorted(set(pair.tasks) - kept)
    notes = [*pair.notes, *([f"every run is void on one side: {', '.join(lost)}; left out"] if lost else [])]
    return Comparison(
        first=rate_of(pair.first.name, sides[0]),
        second=rate_of(pair.second.name, sides[1]),
        tasks=tuple(tasks),
        difference=float(differences.mean()),
        test=_test(differences, sides),
        population=interval,
        population_method=method,
        fixed=_fixed(differences, sides),
        detectable=_detectable(differences, sides),
        voids=_voids(pair),
        void_bounds=_void_bounds(pair),
        void_p=void_favour(_voids(pair), [len(side.rows) for side in (pair.first, pair.second)]),
        costs=_costs(sides) if costs else Costs(None, None, None),
        notes=tuple(notes),
    )


def task_differences(pair: Pair) -> list[TaskDifference]:
    """Return each task's rates, averaged over the instances that both have judged."""
    found = []
    first, second = by_task(pair.first.rows), by_task(pair.second.rows)
    for task in pair.tasks:
        rates = [_by_instance(side[task]) for side in (first, second)]
        common = rates[0].keys() & rates[1].keys()
        if common:
            means = (float(np.mean([side[instance] for instance in common])) for side in rates)
            found.append(TaskDifference(task, *means))
    return found


def _by_instance(rows: Sequence[RunRow]) -> dict[int, float]:
    instances = {row.instance for row in judged(rows)}
    return {one: float(np.mean(outcomes(row for row in rows if row.instance == one))) for one in instances}


def _single(sides: Sequence[Sequence[RunRow]]) -> bool:
    """Whether each task has one judged run on each side, so that outcomes are pairs of yes and no."""
    return all(len(judged(rows)) == 1 for side in sides for rows in by_task(side).values())


def _discordant(differences: np.ndarray) -> tuple[int, int]:
    return int((differences > 0).sum()), int((differences < 0).sum())


def _test(differences: np.ndarray, sides: Sequence[Sequence[RunRow]]) -> PairedTest:
    if _single(sides):
        p_value = mcnemar(*_discordant(differences))
        return PairedTest("exact McNemar", p_value, p_value)
    found = sign_flip(differences)
    return PairedTest("exact sign-flip" if found.exact else "sign-flip, drawn", found.p_value, found.p_value)


def population_interval(differences: np.ndarray, sides: Sequence[Sequence[RunRow]]) -> tuple[Interval, str]:
    """Return the interval of the mean difference for tasks like these, and its name; equal differences are no proof."""
    tasks = len(differences)
    if _single(sides) or not differences.any():
        return tango(*_discordant(differences), tasks), "Tango"
    if tasks < 2:
        return Interval(-1.0, 1.0), "one task says nothing of others"
    return _around(differences, _error(differences, sides), tasks - 1), "paired t"


def _error(differences: np.ndarray, sides: Sequence[Sequence[RunRow]]) -> float:
    """Return the error over tasks, which is never less than the one on these tasks."""
    return max(paired_t(differences).error, _within(sides) or 0.0)


def _within(sides: Sequence[Sequence[RunRow]]) -> float | None:
    errors = [within_error(panel_of(side)) for side in sides]
    return None if errors[0] is None or errors[1] is None else float(np.hypot(errors[0], errors[1]))


def _fixed(differences: np.ndarray, sides: Sequence[Sequence[RunRow]]) -> Interval | None:
    error = _within(sides)
    degrees = sum(int((panel_of(side).totals - 1).sum()) for side in sides)
    return None if error is None else _around(differences, error, degrees)


def _around(differences: np.ndarray, error: float, degrees: int) -> Interval:
    middle, reach = float(differences.mean()), student_quantile(degrees) * error
    return Interval(middle - reach, middle + reach).clipped(-1.0, 1.0)


def _detectable(differences: np.ndarray, sides: Sequence[Sequence[RunRow]]) -> float | None:
    """Return the difference that so many tasks show with a power of 80 %, as these differences scatter."""
    tasks = len(differences)
    if tasks < 2:
        return None
    spread = _error(differences, sides) ** 2 * tasks
    if _single(sides):  # few tasks that differ understate how much others would: one more on either side
        first, second = ((count + 1) / (tasks + 2) for count in _discordant(differences))
        spread = first + second - (first - second) ** 2
    return detectable_effect(tasks, 1, effect_variance=spread, within=0.0)


def _voids(pair: Pair) -> tuple[int, int]:
    first, second = (sum(row.outcome is Outcome.VOID for row in side.rows) for side in (pair.first, pair.second))
    return first, second


def _void_bounds(pair: Pair) -> Interval:
    first, second = (rate_of("", side.rows).void_bounds for side in (pair.first, pair.second))
    return Interval(first.low - second.high, first.high - second.low)


def _costs(sides: Sequence[Sequence[RunRow]]) -> Costs:
    costs = [_task_costs(side) for side in sides]
    both = [task for task in costs[0].keys() & costs[1].keys() if costs[0][task][0] > 0 and costs[1][task][0] > 0]
    ratio = None
    if len(both) > 1:
        ratio = cost_ratio(*([side[task][0] for task in sorted(both)] for side in costs))
    return Costs(_per_success(costs[0]), _per_success(costs[1]), ratio)


def _task_costs(rows: Sequence[RunRow]) -> dict[str, tuple[float, float]]:
    """Return each task's mean cost and success, for tasks whose costs are all known."""
    found = {}
    for task, runs in by_task(judged(rows)).items():
        costs = [row.cost_usd for row in runs if row.cost_usd is not None]
        if len(costs) == len(runs):
            found[task] = float(np.mean(costs)), float(np.mean(outcomes(runs)))
    return found


def _per_success(costs: dict[str, tuple[float, float]]) -> PerSuccess | None:
    if not any(cost for cost, _ in costs.values()):
        return None
    return cost_per_success([cost for cost, _ in costs.values()], [success for _, success in costs.values()])
