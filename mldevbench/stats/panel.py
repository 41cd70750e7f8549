"""A panel: outcomes by task, and where their variance comes from; every task weighs the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import special

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Panel:
    """One array of scores or of 0 and 1 per task; void runs are left out, and tasks with nothing else."""

    outcomes: tuple[Numbers, ...]

    @classmethod
    def of(cls, tasks: Iterable[Sequence[float] | Numbers]) -> Panel:
        arrays = [np.asarray(task, float) for task in tasks]
        return cls(tuple(array for array in arrays if len(array)))

    def __len__(self) -> int:
        return len(self.outcomes)

    @cached_property
    def totals(self) -> npt.NDArray[np.int64]:
        return np.array([len(task) for task in self.outcomes], np.int64)

    @cached_property
    def passes(self) -> Numbers:
        return np.array([task.sum() for task in self.outcomes])

    @cached_property
    def means(self) -> Numbers:
        return np.array([task.mean() for task in self.outcomes])

    @property
    def rate(self) -> float:
        return float(self.means.mean())

    @cached_property
    def spreads(self) -> Numbers:
        """Return each task's variance between runs; a task with one run gets the mean of the others."""
        own = [task.var(ddof=1) if len(task) > 1 else np.nan for task in self.outcomes]
        known = [value for value in own if not np.isnan(value)]
        usual = float(np.mean(known)) if known else float("nan")
        return np.where(np.isnan(own), usual, own)


@dataclass(frozen=True)
class Components:
    """Variance between tasks and within them; `clipped` says that the former came out negative."""

    between: float
    within: float
    clipped: bool
    mean_square_between: float
    mean_square_within: float
    ratio: float
    p_value: float

    @property
    def intraclass(self) -> float:
        total = self.between + self.within
        return self.between / total if total else float("nan")

    def design_effect(self, seeds: float) -> float:
        return 1 + (seeds - 1) * self.intraclass


def components(panel: Panel) -> Components:
    """Split the variance of single runs by a one-way analysis; needs two tasks and two runs of one of them."""
    totals, means = panel.totals, panel.means
    tasks, runs = len(panel), int(totals.sum())
    pooled = float(panel.passes.sum() / runs)
    square_between = float((totals * (means - pooled) ** 2).sum()) / (tasks - 1) if tasks > 1 else float("nan")
    square_within = _pooled_within(panel)
    within = float(panel.spreads.mean())
    between = float(means.var(ddof=1) - (panel.spreads / totals).mean()) if tasks > 1 else float("nan")
    ratio = square_between / square_within if square_within > 0 else float("nan")
    return Components(
        between=max(between, 0.0),
        within=within,
        clipped=between < 0,
        mean_square_between=square_between,
        mean_square_within=square_within,
        ratio=ratio,
        p_value=float(special.fdtrc(tasks - 1, runs - tasks, ratio)) if runs > tasks else float("nan"),
    )


def _pooled_within(panel: Panel) -> float:
    degrees = int((panel.totals - 1).sum())
    squares = sum(float(((task - task.mean()) ** 2).sum()) for task in panel.outcomes)
    return squares / degrees if degrees else float("nan")


def population_error(between: float, within: float, tasks: int, seeds: float) -> float:
    """Project the standard error for "tasks like these"; seeds can't buy it below sqrt(between / tasks)."""
    return float(np.sqrt((between + within / seeds) / tasks))


def fixed_error(within: float, tasks: int, seeds: float) -> float:
    """Project the standard error for "these tasks"."""
    return float(np.sqrt(within / (tasks * seeds)))


def clustered_error(panel: Panel) -> float:
    """Return the cluster-robust error of the mean over runs, with the correction for few clusters."""
    runs, tasks = int(panel.totals.sum()), len(panel)
    mean = panel.passes.sum() / runs
    raw = np.sqrt(((panel.passes - panel.totals * mean) ** 2).sum()) / runs
    return float(raw * np.sqrt(tasks / (tasks - 1)))
