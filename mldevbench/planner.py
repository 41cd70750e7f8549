"""Planning a study: how many seeds, at what price, and what no number of seeds can tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mldevbench.rates import judged, panel_of
from mldevbench.records import RunRow
from mldevbench.stats.interval import Interval, normal_quantile, student_quantile
from mldevbench.stats.panel import components, fixed_error, population_error
from mldevbench.stats.power import ALPHA, POWER, detectable_effect, seeds_for_effect, seeds_for_half_width

SEEDS = (1, 2, 3, 5, 10, 20, 50)
VARIANCES = ("within", "between")


@dataclass(frozen=True)
class Assumption:
    """What is taken for granted: how runs scatter, and what one costs; None is unknown."""

    source: str
    tasks: int = 30
    # A third of the tasks impossible, a fifth easy, the rest anything: a benchmark that is hard but not hopeless.
    within: float = 0.092
    between: float = 0.149
    effect_variance: float = 1 / 9
    usd: tuple[float, float, float] | None = None  # per run: low, middle, high
    gpu_hours: tuple[float, float, float] | None = None
    usual: tuple[str, ...] = ()  # what a pilot could not tell, so that the usual value stands


@dataclass(frozen=True)
class Goal:
    half_width: float = 0.05
    effect: float = 0.10
    agents: int = 2
    alpha: float = ALPHA
    power: float = POWER


@dataclass(frozen=True)
class Point:
    """What a number of seeds gives and takes."""

    seeds: int
    fixed: float
    population: float
    effect_fixed: float
    effect_population: float
    runs: int
    usd: tuple[float, float, float] | None
    gpu_hours: tuple[float, float, float] | None


@dataclass(frozen=True)
class Forecast:
    assumption: Assumption
    goal: Goal
    seeds_for_half_width: int
    seeds_for_effect: int
    seeds_for_effect_population: int | None
    population_floor: float
    effect_floor: float
    points: tuple[Point, ...]

    @property
    def wanted(self) -> int:
        return max(self.seeds_for_half_width, self.seeds_for_effect)


def forecast(assumption: Assumption, goal: Goal) -> Forecast:
    """Return the seeds for a half-width and an effect, and the price of each number of seeds."""
    within, tasks = assumption.within, assumption.tasks
    by_width = seeds_for_half_width(goal.half_width, tasks, within, 1 - goal.alpha)
    power = {"alpha": goal.alpha, "power": goal.power}
    by_effect = seeds_for_effect(goal.effect, tasks, effect_variance=0.0, within=within, **power) or 1
    across = seeds_for_effect(goal.effect, tasks, effect_variance=assumption.effect_variance, within=within, **power)
    many = 10**9
    floor = detectable_effect(tasks, many, effect_variance=assumption.effect_variance, within=within, **power)
    return Forecast(
        assumption=assumption,
        goal=goal,
        seeds_for_half_width=by_width,
        seeds_for_effect=by_effect,
        seeds_for_effect_population=across,
        population_floor=_population_width(assumption, goal, many),
        effect_floor=floor,
        points=tuple(_point(assumption, goal, seeds) for seeds in sorted({*SEEDS, by_width, by_effect})),
    )


def _population_width(assumption: Assumption, goal: Goal, seeds: int) -> float:
    if assumption.tasks < 2:
        return float("inf")
    error = population_error(assumption.between, assumption.within, assumption.tasks, seeds)
    return student_quantile(assumption.tasks - 1, 1 - goal.alpha) * error


def _point(assumption: Assumption, goal: Goal, seeds: int) -> Point:
    tasks, within = assumption.tasks, assumption.within
    runs = tasks * seeds * goal.agents
    effects = [
        detectable_effect(tasks, seeds, effect_variance=variance, within=within, alpha=goal.alpha, power=goal.power)
        for variance in (0.0, assumption.effect_variance)
    ]
    return Point(
        seeds=seeds,
        fixed=normal_quantile(1 - goal.alpha) * fixed_error(within, tasks, seeds),
        population=_population_width(assumption, goal, seeds),
        effect_fixed=effects[0],
        effect_population=effects[1],
        runs=runs,
        usd=_times(assumption.usd, runs),
        gpu_hours=_times(assumption.gpu_hours, runs),
    )


def _times(each: tuple[float, float, float] | None, runs: int) -> tuple[float, float, float] | None:
    return None if each is None else (each[0] * runs, each[1] * runs, each[2] * runs)


def from_pilot(rows: Sequence[RunRow], source: str, tasks: int | None = None) -> Assumption:
    """Read the assumptions off runs at hand; where the pilot can't say, the usual ones stand."""
    usual = Assumption(source)
    panels = [panel_of(row for row in rows if row.label == label) for label in sorted({row.label for row in rows})]
    found = [components(panel) for panel in panels if len(panel) > 1 and (panel.totals > 1).any()]
    seen = {name: float(np.mean([getattr(one, name) for one in found])) if found else 0.0 for name in VARIANCES}
    # No spread in a pilot is not no spread: it would promise that few seeds or few tasks settle everything.
    silent = tuple(name for name, value in seen.items() if not value)
    return Assumption(
        source=source,
        tasks=tasks or len({row.task for row in rows}),
        within=seen["within"] or usual.within,
        between=seen["between"] or usual.between,
        usual=silent,
        usd=_range([row.cost_usd for row in judged(rows)]),
        gpu_hours=_range([row.gpu_seconds / 3600 for row in judged(rows)]),
    )


def _range(costs: Sequence[float | None]) -> tuple[float, float, float] | None:
    """Return the mean cost of a run with its 95 % interval; None if a cost is unknown."""
    known = np.array([cost for cost in costs if cost is not None])
    if not len(known) or len(known) < len(costs):
        return None
    mean = float(known.mean())
    if len(known) < 2:
        return mean, mean, mean
    reach = student_quantile(len(known) - 1) * float(known.std(ddof=1)) / float(np.sqrt(len(known)))
    low, high = Interval(mean - reach, mean + reach).clipped(0.0, float("inf"))
    return low, mean, high
