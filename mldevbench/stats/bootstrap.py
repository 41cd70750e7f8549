"""The task bootstrap: tasks are drawn again with all their runs, for what has no closed form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mldevbench.stats.interval import CONFIDENCE, Interval, wilson
from mldevbench.stats.panel import Panel

DRAWS = 2000
SEED = 20250


class BootstrapErrors(NamedTuple):
    tasks: float
    tasks_then_seeds: float
    seeds: float


def ideal_errors(panel: Panel) -> BootstrapErrors:
    """Return the errors that infinitely many draws would give; drawing tasks then seeds counts noise twice."""
    tasks = len(panel)
    between = float(panel.means.var()) / tasks
    within = float((panel.means * (1 - panel.means) / panel.totals).mean()) / tasks
    return BootstrapErrors(*(float(np.sqrt(v)) for v in (between, between + within, within)))


def draw_tasks(tasks: int, draws: int = DRAWS, seed: int = SEED) -> npt.NDArray[np.int64]:
    """Return task numbers drawn with replacement, one row per draw; the same for every curve of a study."""
    return np.random.default_rng(seed).integers(0, tasks, (draws, tasks))


def percentile(values: npt.ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Return the middle share of the values; those that could not be computed are left out."""
    array = np.asarray(values, float)
    array = array[~np.isnan(array)]
    if not len(array):
        return Interval(float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    low, high = np.quantile(array, [tail, 1 - tail])
    return Interval(float(low), float(high))


def mean_interval(per_task: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Return the bootstrap interval of a mean over tasks."""
    values = np.asarray(per_task, float)
    values = values[~np.isnan(values)]
    if len(values) < 2:
        return Interval(float("nan"), float("nan"))
    if np.ptp(values) == 0 and 0 <= values[0] <= 1:  # drawing equal values again would claim certainty
        return wilson(float(values.sum()), len(values), confidence)
    return percentile(values[draw_tasks(len(values))].mean(axis=1), confidence)


def statistic_interval(
    tasks: int,
    statistic: Callable[[npt.NDArray[np.int64]], float],
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the bootstrap interval of any function of the drawn task numbers."""
    return percentile([statistic(chosen) for chosen in draw_tasks(tasks, draws)], confidence)
