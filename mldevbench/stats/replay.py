"""Budget replay: what smaller budgets would have given, read from long runs with graded snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from mldevbench.stats.bootstrap import draw_tasks, percentile
from mldevbench.stats.interval import Interval
from mldevbench.stats.paired import TOLERANCE, PairedMean, SignFlip, paired_t, sign_flip, tango
from mldevbench.stats.repeat import pass_at_k

Grid = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """One long run: what it had spent at each graded snapshot, and at its end."""

    spent: float
    passed: bool
    snapshots: tuple[tuple[float, bool], ...] = ()

    def ended(self, budget: float) -> bool:
        """It had ended by then, and passed: a lower bound."""
        return self.passed and self.spent <= budget

    def graded(self, budget: float) -> bool:
        """Its last snapshot by then passes; this may fall as well as rise."""
        reached = [passed for at, passed in self._verdicts if at <= budget]
        return bool(reached) and reached[-1]

    def first_hit(self, budget: float) -> bool:
        """Some snapshot by then passes: an upper bound, with an oracle that says when to stop."""
        return any(verdict for at, verdict in self._verdicts if at <= budget)

    @cached_property
    def _verdicts(self) -> list[tuple[float, bool]]:
        """Return when it was judged and how, in the order of time; of two at once the worse comes last."""
        before = [verdict for verdict in self.snapshots if verdict[0] < self.spent]
        before.sort(key=lambda verdict: (verdict[0], not verdict[1]))
        return [*before, (self.spent, self.passed)]


Traces = Mapping[str, Sequence[Trace]]


@dataclass(frozen=True)
class Sandwich:
    """Rates by budget: ended by then, last snapshot, any snapshot; the interval is of the middle one."""

    budgets: tuple[float, ...]
    lower: tuple[float, ...]
    graded: tuple[float, ...]
    upper: tuple[float, ...]
    intervals: tuple[Interval, ...]


def sandwich(traces: Traces, budgets: Sequence[float]) -> Sandwich:
    """Return the three estimates over a grid; all points share their runs, so whole tasks are drawn again."""
    lower = graded = upper = task_rates(traces, budgets, "ended")
    if any(run.snapshots for runs in traces.values() for run in runs):
        graded, upper = (task_rates(traces, budgets, kind) for kind in ("graded", "first_hit"))
    chosen = draw_tasks(len(graded))
    intervals = [percentile(graded[:, place][chosen].mean(axis=1)) for place in range(len(budgets))]
    means = [tuple(rates.mean(axis=0).tolist()) for rates in (lower, graded, upper)]
    return Sandwich(tuple(budgets), means[0], means[1], means[2], tuple(intervals))


def task_rates(traces: Traces, budgets: Sequence[float], kind: str = "graded") -> Grid:
    """Return each task's rate at each budget."""
    return np.array(
        [
            [float(np.mean([getattr(trace, kind)(budget) for trace in runs])) for budget in budgets]
            for runs in traces.values()
            if runs
        ],
        float,
    )


def surface(traces: Traces, budgets: Sequence[float], attempts: Sequence[int]) -> Grid:
    """Return pass@k of runs stopped at each budget, an oracle choosing: rows are k, columns budgets."""
    rates = np.full((len(attempts), len(budgets)), np.nan)
    for column, budget in enumerate(budgets):
        tasks = [(len(runs), sum(run.graded(budget) for run in runs)) for runs in traces.values()]
        for row, k in enumerate(attempts):
            each = [pass_at_k(runs, passed, k) for runs, passed in tasks if runs >= k]
            rates[row, column] = np.mean(each) if each else np.nan
    return rates


@dataclass(frozen=True)
class Spending:
    """One way to spend a total: so many attempts of such a budget."""

    total: float
    attempts: int
    budget: float
    rate: float


def iso_compute(rates: Grid, budgets: Sequence[float], attempts: Sequence[int]) -> dict[float, list[Spending]]:
    """Group the surface by what k attempts of b cost together, best first; only totals with a choice."""
    lines: dict[float, list[Spending]] = {}
    for row, k in enumerate(attempts):
        for column, budget in enumerate(budgets):
            if not np.isnan(rates[row, column]):
                spending = Spending(k * budget, k, budget, float(rates[row, column]))
                lines.setdefault(spending.total, []).append(spending)
    return {
        total: sorted(line, key=lambda spending: (-spending.rate, spending.attempts))
        for total, line in sorted(lines.items())
        if len(line) > 1
    }


@dataclass(frozen=True)
class Calibration:
    """Whether replayed rates stand in for rerun ones at one budget."""

    agrees: bool
    margin: float
    difference: PairedMean
    interval: Interval
    test: SignFlip


def calibrate(replayed: npt.ArrayLike, rerun: npt.ArrayLike, margin: float) -> Calibration:
    """Compare task rates by replay and by rerun: equivalent if the 90 % interval lies inside the margin."""
    differences = np.asarray(replayed, float) - np.asarray(rerun, float)
    mean = paired_t(differences, 0.90)
    interval = mean.interval
    if np.ptp(differences) < TOLERANCE:  # no spread seen is not no spread: bound it by the number of tasks
        reach = tango(0, 0, len(differences), 0.90).high
        interval = Interval(mean.mean - reach, mean.mean + reach)
    agrees = -margin < interval.low and interval.high < margin
    return Calibration(bool(agrees), margin, mean, interval, sign_flip(differences))
