"""Budget replay of a study: one batch of long runs read at smaller budgets, and whether a rerun bears it out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mldevbench.axis import Axis
from mldevbench.rates import task_means
from mldevbench.records import Outcome, RunRow, SnapshotRow
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
WHOLE = (Axis.STEPS, Axis.TOKENS)


@dataclass(frozen=True)
class Replay:
    """What smaller budgets would have given; without snapshots only the lower estimate stands, and no surface."""

    budget: float
    graded: bool
    estimates: Sandwich
    attempts: tuple[int, ...]
    surface: tuple[tuple[float, ...], ...]
    iso: dict[float, list[Spending]]
    calibrations: dict[float, Calibration]

    @property
    def calibrated(self) -> bool:
        return bool(self.calibrations) and all(one.agrees for one in self.calibrations.values())

    @property
    def title(self) -> str:
        """Return what the curve may be called: scaling only where a rerun bears it out."""
        if self.calibrated:
            return "scaling, replay validated at " + ", ".join(f"{budget:g}" for budget in self.calibrations)
        return "replay, contradicted by a rerun" if self.calibrations else "replay, not calibrated by a rerun"


def graded_snapshots(rows: Iterable[SnapshotRow], axis: Axis) -> dict[str, list[tuple[float, bool]]]:
    """Return the verdicts of every run's snapshots by what was spent; a void one says nothing."""
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row.run_id, row.number)):
        spent = {Axis.STEPS: row.steps, Axis.TOKENS: row.tokens, Axis.USD: row.usd, Axis.MINUTES: row.minutes}.get(axis)
        if spent is not None and row.outcome is not Outcome.VOID:
            found[row.run_id].append((float(spent), row.outcome is Outcome.PASSED))
    return dict(found)


def replay_of(
    levels: Mapping[float, Sequence[RunRow]], axis: Axis, snapshots: Snapshots, margin: float = MARGIN
) -> Replay | None:
    """Replay the runs of the largest budget; those of smaller ones calibrate it."""
    budgets = sorted(levels)
    longest = budgets[-1]
    traces = traces_of(levels[longest], axis, snapshots)
    if not traces:
        return None
    graded = any(run.snapshots for runs in traces.values() for run in runs)
    grid = log_grid(longest, axis)
    attempts = tuple(k for k in (1, 2, 4, 8, 16) if k <= max(1, min(map(len, traces.values())) // 2))
    rates = surface(traces, grid, attempts if graded else ())
    estimates = sandwich(traces, grid)
    calibrations = {}
    for budget in budgets[:-1] if graded else ():
        rerun = task_means(levels[budget])
        tasks = [task for task in traces if task in rerun]
        replayed = task_rates({task: traces[task] for task in tasks}, [budget])[:, 0]
        calibrations[budget] = calibrate(replayed, [rerun[task] for task in tasks], margin)
    return Replay(
        longest,
        graded,
        replace(estimates, budgets=tuple(_countable(one, axis) for one in estimates.budgets)),
        attempts,
        tuple(tuple(row) for row in rates.tolist()),
        {
            total: [replace(way, budget=_countable(way.budget, axis)) for way in ways]
            for total, ways in (iso_compute(rates, grid, attempts) if graded else {}).items()
        },
        calibrations,
    )


def _countable(budget: float, axis: Axis) -> float:
    """Return what of a halved budget can be spent: there is no half step."""
    return float(int(budget)) if axis in WHOLE else budget


def traces_of(rows: Sequence[RunRow], axis: Axis, snapshots: Snapshots) -> dict[str, list[Trace]]:
    """Return the long runs by task; one whose spending is unknown can't be replayed."""
    traces: dict[str, list[Trace]] = defaultdict(list)
    for row in rows:
        spent = axis.spent(row)
        if spent is not None:
            traces[row.task].append(Trace(spent, row.outcome is Outcome.PASSED, tuple(snapshots.get(row.run_id, ()))))
    return dict(traces)


def log_grid(longest: float, axis: Axis, points: int = 7) -> list[float]:
    """Return budgets that halve from the longest down."""
    grid = [longest / 2**power for power in reversed(range(points))]
    return [one for one in grid if one >= 1] if axis in WHOLE else grid
