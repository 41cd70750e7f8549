"""A success rate with its declared target: these tasks (`fixed`) or tasks like these (`population`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from mldevbench.stats.interval import CONFIDENCE, Interval, student_quantile, wilson
from mldevbench.stats.panel import Panel


class Target(StrEnum):
    FIXED = "fixed"  # only seeds are random
    POPULATION = "population"  # tasks are random too


@dataclass(frozen=True)
class Estimate:
    """A rate, its standard error and interval (None where the data can't say), and how they came about."""

    target: Target
    rate: float
    error: float | None
    interval: Interval | None
    method: str


def estimate(panel: Panel, target: Target, confidence: float = CONFIDENCE) -> Estimate:
    if not len(panel):
        return Estimate(target, float("nan"), None, None, "no judged run")
    return _fixed(panel, confidence) if target is Target.FIXED else _population(panel, confidence)


def _fixed(panel: Panel, confidence: float) -> Estimate:
    degrees = int((panel.totals - 1).sum())
    if degrees == 0:
        return Estimate(Target.FIXED, panel.rate, None, None, "needs two seeds of a task")
    if len(panel) == 1:
        interval = wilson(float(panel.passes[0]), int(panel.totals[0]), confidence)
        return Estimate(Target.FIXED, panel.rate, within_error(panel), interval, "Wilson")
    error = within_error(panel)
    assert error is not None
    method = "stratified by task" if panel.spreads.any() else "stratified by task, Jeffreys"
    return _around(Target.FIXED, panel.rate, error, student_quantile(degrees, confidence), method)


def within_error(panel: Panel) -> float | None:
    """Return the error of the rate on these tasks; None without repeats.

    Where no task was seen both ways, an error of 0 would be a lie: each task then counts with the spread that its
    Jeffreys posterior expects.
    """
    if (panel.totals < 2).all():
        return None
    spreads = panel.spreads
    if not spreads.any():
        alpha, beta = panel.passes + 0.5, panel.totals - panel.passes + 0.5
        spreads = alpha * beta / ((alpha + beta) * (alpha + beta + 1))
    return float(np.sqrt((spreads / panel.totals).sum()) / len(panel))


def _population(panel: Panel, confidence: float) -> Estimate:
    tasks = len(panel)
    if tasks == 1:
        return Estimate(Target.POPULATION, panel.rate, None, None, "needs two tasks")
    # Tasks drawn anew can't be surer than the same tasks again, however alike their means happen to be.
    error = max(float(panel.means.std(ddof=1) / np.sqrt(tasks)), within_error(panel) or 0.0)
    if (panel.totals == 1).all() or panel.rate in (0.0, 1.0):
        interval = wilson(float(panel.means.sum()), tasks, confidence)
        return Estimate(Target.POPULATION, panel.rate, error, interval, "Wilson over tasks")
    quantile = student_quantile(tasks - 1, confidence)
    return _around(Target.POPULATION, panel.rate, error, quantile, "t over task means")


def _around(target: Target, rate: float, error: float, quantile: float, method: str) -> Estimate:
    interval = Interval(rate - quantile * error, rate + quantile * error).clipped()
    return Estimate(target, rate, error, interval, method)
