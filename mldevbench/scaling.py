"""Scaling of success with one axis of budget: by rerunning at each level, by replaying long runs, or both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mldevbench.axis import Axis
from mldevbench.compare import population_interval
from mldevbench.errors import UserError
from mldevbench.rates import Rate, by_task, judged, outcomes, panel_of, rate_of, task_means
from mldevbench.records import RunRow
from mldevbench.replaying import MARGIN, Replay, Snapshots, replay_of
from mldevbench.stats.bootstrap import draw_tasks, percentile
from mldevbench.stats.cost import PerSuccess, cost_per_success
from mldevbench.stats.envelope import Envelope, envelope
from mldevbench.stats.fit import REACH, Logistic, fit_logistic
from mldevbench.stats.interval import Interval
from mldevbench.stats.paired import PairedMean, SignFlip, paired_t, sign_flip

FIT_DRAWS = 300


@dataclass(frozen=True)
class Level:
    """The runs of one budget: their rate on the common tasks, and what a success costs."""

    budget: float
    rate: Rate
    usd: PerSuccess | None
    gpu_hours: PerSuccess | None


@dataclass(frozen=True)
class Rise:
    """The largest budget against the smallest, task by task."""

    difference: PairedMean
    test: SignFlip


@dataclass(frozen=True)
class Half:
    """The fitted curve and the budget at which half the runs pass, with its task-bootstrap interval."""

    curve: Logistic
    budget: float
    interval: Interval


@dataclass(frozen=True)
class Scaling:
    label: str
    axis: Axis
    tasks: int
    levels: tuple[Level, ...]
    rise: Rise | None
    half: Half | None
    replay: Replay | None
    ahead: Envelope | None = None
    notes: tuple[str, ...] = ()


def analyse(
    rows: Iterable[RunRow], axis: Axis, snapshots: Snapshots | None = None, margin: float = MARGIN, ahead: bool = False
) -> list[Scaling]:
    """Analyse every label along one axis; `ahead` adds the models of further attempts, which take seconds."""
    labels: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        if axis.allowed(row) is not None:
            labels[row.label].append(row)
    if not labels:
        raise UserError(f"no run has a budget in {axis}; choose another --axis")
    found = [scaling_of(label, labels[label], axis, snapshots or {}, margin) for label in sorted(labels)]
    return [replace(one, ahead=_ahead(labels[one.label], one)) for one in found] if ahead else found


def scaling_of(label: str, rows: Sequence[RunRow], axis: Axis, snapshots: Snapshots, margin: float = MARGIN) -> Scaling:
    levels: dict[float, list[RunRow]] = defaultdict(list)
    for row in rows:
        levels[axis.allowed(row) or 0.0].append(row)
    budgets = sorted(levels)
    common = set.intersection(*({row.task for row in judged(levels[one])} for one in budgets))
    notes = _notes(rows, axis, common)
    if not common:
        return Scaling(label, axis, 0, (), None, None, None, notes=notes)
    whole = {one: [row for row in levels[one] if row.task in common] for one in budgets}
    kept = {one: judged(whole[one]) for one in budgets}
    several = len(budgets) > 1
    return Scaling(
        label=label,
        axis=axis,
        tasks=len(common),
        levels=tuple(_level(one, label, whole[one]) for one in budgets),
        rise=_rise(kept[budgets[0]], kept[budgets[-1]]) if several else None,
        half=_half(kept, sorted(common)) if several else None,
        replay=replay_of(kept, axis, snapshots, margin) if axis.replayable else None,
        notes=notes,
    )


def _notes(rows: Sequence[RunRow], axis: Axis, common: Collection[str]) -> tuple[str, ...]:
    notes = []
    alone = sorted({row.task for row in rows} - set(common))
    if alone:
        notes.append(f"not judged at every budget, left out: {', '.join(alone)}")
    others = [other for other in Axis if other is not axis]
    if len({tuple(other.allowed(row) for other in others) for row in rows}) > 1:
        notes.append(f"other limits differ along with {axis}; the curve shows them too")
    return tuple(notes)


def _ahead(rows: Sequence[RunRow], found: Scaling) -> Envelope | None:
    if not found.levels:
        return None
    return envelope(panel_of(row for row in rows if found.axis.allowed(row) == found.levels[-1].budget))


def _level(budget: float, label: str, rows: Sequence[RunRow]) -> Level:
    tasks = by_task(judged(rows)).values()
    successes = [float(np.mean(outcomes(runs))) for runs in tasks]
    usd = [[row.cost_usd for row in runs] for runs in tasks]
    known = [float(np.mean([cost for cost in costs if cost is not None])) for costs in usd if None not in costs]
    gpu_hours = [float(np.mean([row.gpu_seconds for row in runs])) / 3600 for runs in tasks]
    return Level(
        budget,
        rate_of(label, rows),
        cost_per_success(known, successes) if len(known) == len(successes) and any(known) else None,
        cost_per_success(gpu_hours, successes) if any(gpu_hours) else None,
    )


def _rise(low: Sequence[RunRow], high: Sequence[RunRow]) -> Rise:
    first, last = task_means(low), task_means(high)
    differences = np.array([last[task] - first[task] for task in sorted(first)])
    interval, _ = population_interval(differences, (high, low))
    return Rise(replace(paired_t(differences), interval=interval), sign_flip(differences))


def _half(levels: Mapping[float, Sequence[RunRow]], tasks: Sequence[str]) -> Half | None:
    """Fit success against log2 of the budget; whole tasks are drawn again for the interval."""
    budgets = np.array(sorted(levels))
    if (budgets <= 0).any():
        return None
    means = [task_means(levels[budget]) for budget in budgets]
    rates = np.array([[level[task] for level in means] for task in tasks])
    curve = _curve(budgets, rates)
    if curve is None or curve.slope <= 0:
        return None
    halves = []
    for chosen in draw_tasks(len(tasks), FIT_DRAWS):
        drawn = _curve(budgets, rates[chosen])
        halves.append(drawn.log2_half if drawn and drawn.slope > 0 else np.nan)
    interval = percentile(halves)
    return Half(curve, curve.half, Interval(2**interval.low, 2**interval.high))


def _curve(budgets: np.ndarray, rates: np.ndarray) -> Logistic | None:
    """Fit mean rates: each level counts as so many tasks of fractional success."""
    mean, tasks = rates.mean(axis=0), len(rates)
    place = np.concatenate((budgets, budgets))
    passed = np.repeat([1.0, 0.0], len(budgets))
    return fit_logistic(place, passed, np.concatenate((mean, 1 - mean)) * tasks)


def predict(found: Scaling, budget: float) -> float:
    """Return the fitted success at a budget; refuse to go far beyond what was run."""
    largest = found.levels[-1].budget if found.levels else 0.0
    if budget > REACH * largest:
        raise UserError(
            f"{budget:g} {found.axis} is more than {REACH} times the largest budget that was run ({largest:g}); "
            "no curve is worth that, run a larger budget"
        )
    if found.half is None:
        raise UserError(f"{found.label}: no curve fits; run at least two budgets between which success rises")
    return float(found.half.curve.success(budget))
