"""Scaling of success with one axis of budget: by rerunning at each level, by replaying long runs, or both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mldevbench.axis import Axis
from mldevbench.errors import UserError
from mldevbench.rates import Rate, by_task, judged, outcomes, rate_of
from mldevbench.records import Outcome, RunRow
from mldevbench.stats.bootstrap import draw_tasks, percentile
from mldevbench.stats.cost import PerSuccess, cost_per_success
from mldevbench.stats.fit import REACH, Logistic, fit_logistic
from mldevbench.stats.interval import Interval
from mldevbench.stats.paired import PairedMean, SignFlip, paired_t, sign_flip
from mldevbench.stats.replay import (
    Calibration,
    Sandwich,
    Spending,
    Trace,
    calibrate,
    iso_compute,
    sandwich,
    surface,
    task_rates,
)

Snapshots = Mapping[str, Sequence[tuple[float, bool]]]  # by run id: what was spent, and whether it passes
MARGIN = 0.10
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
class Replay:
    """What smaller budgets would have given; without snapshots only the lower estimate stands."""

    budget: float
    graded: bool
    estimates: Sandwich
    attempts: tuple[int, ...]
    surface: tuple[tuple[float, ...], ...]
    iso: dict[float, list[Spending]]
    calibrations: dict[float, Calibration]


@dataclass(frozen=True)
class Scaling:
    label: str
    axis: Axis
    tasks: int
    levels: tuple[Level, ...]
    rise: Rise | None
    half: Half | None
    replay: Replay | None
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return what the curve may be called: scaling only where it was rerun, or where replay was calibrated."""
        if len(self.levels) > 1:
            return "scaling"
        return "replay"


def analyse(
    rows: Iterable[RunRow], axis: Axis, snapshots: Snapshots | None = None, margin: float = MARGIN
) -> list[Scaling]:
    """Analyse every label along one axis."""
    labels: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        if axis.allowed(row) is not None:
            labels[row.label].append(row)
    if not labels:
        raise UserError(f"no run has a budget in {axis}; choose another --axis")
    return [scaling_of(label, labels[label], axis, snapshots or {}, margin) for label in sorted(labels)]


def scaling_of(
    label: str, rows: Sequence[RunRow], axis: Axis, snapshots: Snapshots, margin: float = MARGIN
) -> Scaling:
    by_level: dict[float, list[RunRow]] = defaultdict(list)
    for row in judged(rows):
        by_level[axis.allowed(row) or 0.0].append(row)
    budgets = sorted(by_level)
    common = set.intersection(*({row.task for row in by_level[one]} for one in budgets)) if budgets else set()
    kept = {one: [row for row in by_level[one] if row.task in common] for one in budgets}
    alone = {row.task for row in judged(rows)} - common
    notes = [f"not judged at every budget, left out: {', '.join(sorted(alone))}"] if alone else []
    if not common:
        return Scaling(label, axis, 0, (), None, None, None, tuple(notes))
    voids = {one: [row for row in rows if row.task in common and axis.allowed(row) == one] for one in budgets}
    return Scaling(
        label=label,
        axis=axis,
        tasks=len(common),
        levels=tuple(_level(one, label, voids[one]) for one in budgets),
        rise=_rise(kept[budgets[0]], kept[budgets[-1]]) if len(budgets) > 1 else None,
        half=_half(kept, sorted(common)) if len(budgets) > 1 else None,
        replay=_replay(kept, budgets, axis, snapshots, margin) if axis.replayable else None,
        notes=tuple(notes),
    )


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


def _rates(rows: Sequence[RunRow]) -> dict[str, float]:
    return {task: float(np.mean(outcomes(runs))) for task, runs in by_task(rows).items()}


def _rise(low: Sequence[RunRow], high: Sequence[RunRow]) -> Rise:
    first, last = _rates(low), _rates(high)
    differences = [last[task] - first[task] for task in sorted(first)]
    return Rise(paired_t(differences), sign_flip(differences))


def _half(levels: Mapping[float, Sequence[RunRow]], tasks: Sequence[str]) -> Half | None:
    """Fit success against log2 of the budget; whole tasks are drawn again for the interval."""
    budgets = np.array(sorted(levels))
    if (budgets <= 0).any():
        return None
    rates = np.array([[_rates(levels[budget])[task] for budget in budgets] for task in tasks])
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


def _replay(
    levels: Mapping[float, Sequence[RunRow]], budgets: Sequence[float], axis: Axis, snapshots: Snapshots, margin: float
) -> Replay | None:
    longest = budgets[-1]
    traces = traces_of(levels[longest], axis, snapshots)
    if not traces:
        return None
    graded = any(run.snapshots for runs in traces.values() for run in runs)
    grid = log_grid(longest, axis)
    attempts = tuple(k for k in (1, 2, 4, 8, 16) if k <= max(1, min(map(len, traces.values())) // 2))
    rates = surface(traces, grid, attempts)
    calibrations = {}
    for budget in budgets[:-1] if graded else ():
        rerun = _rates(levels[budget])
        tasks = [task for task in traces if task in rerun]
        replayed = task_rates({task: traces[task] for task in tasks}, [budget])[:, 0]
        calibrations[budget] = calibrate(replayed, [rerun[task] for task in tasks], margin)
    return Replay(
        longest,
        graded,
        sandwich(traces, grid),
        attempts,
        tuple(tuple(row) for row in rates.tolist()),
        iso_compute(rates, grid, attempts) if graded else {},
        calibrations,
    )


def traces_of(rows: Sequence[RunRow], axis: Axis, snapshots: Snapshots) -> dict[str, list[Trace]]:
    """Return the long runs by task; one whose spending is unknown can't be replayed."""
    traces: dict[str, list[Trace]] = defaultdict(list)
    for row in rows:
        spent = axis.spent(row)
        if spent is not None:
            traces[row.task].append(
                Trace(spent, row.outcome is Outcome.PASSED, tuple(snapshots.get(row.run_id, ())))
            )
    return dict(traces)


def log_grid(longest: float, axis: Axis, points: int = 7) -> list[float]:
    """Return budgets that halve from the longest down."""
    grid = [longest / 2**power for power in reversed(range(points))]
    return [one for one in grid if one >= 1] if axis in (Axis.STEPS, Axis.TOKENS) else grid


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
