"""Success rates of one label: both targets, void runs left out and bounded, first attempts beside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mldevbench.records import Outcome, RunRow
from mldevbench.stats.interval import Interval
from mldevbench.stats.panel import Panel
from mldevbench.stats.rate import Estimate, Target, estimate
from mldevbench.stats.void import void_bounds


@dataclass(frozen=True)
class Rate:
    """What a label's runs say of its success; `first_attempts` counts only runs that no loss repeated."""

    label: str
    tasks: int
    seeds: tuple[int, int]  # the fewest and the most judged runs of a task
    passed: int
    judged: int
    void: int
    fixed: Estimate
    population: Estimate
    void_bounds: Interval
    first_attempts: float | None


def by_task(rows: Iterable[RunRow]) -> dict[str, list[RunRow]]:
    """Group rows by task, in the order in which tasks are met."""
    tasks: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        tasks[row.task].append(row)
    return dict(tasks)


def judged(rows: Iterable[RunRow]) -> list[RunRow]:
    return [row for row in rows if row.outcome is not Outcome.VOID]


def outcomes(rows: Iterable[RunRow]) -> list[float]:
    return [float(row.outcome is Outcome.PASSED) for row in judged(rows)]


def panel_of(rows: Iterable[RunRow]) -> Panel:
    return Panel.of(outcomes(runs) for runs in by_task(rows).values())


def task_means(rows: Iterable[RunRow]) -> dict[str, float]:
    """Return the rate of each task that has a judged run."""
    found = {task: outcomes(runs) for task, runs in by_task(rows).items()}
    return {task: sum(values) / len(values) for task, values in found.items() if values}


def rate_of(label: str, rows: Sequence[RunRow]) -> Rate:
    tasks = by_task(rows)
    panel = panel_of(rows)
    counts = [len(judged(runs)) for runs in tasks.values()]
    passes = [int(sum(outcomes(runs))) for runs in tasks.values()]
    voids = [len(runs) - count for runs, count in zip(tasks.values(), counts, strict=True)]
    first = panel_of(row for row in rows if row.attempts == 1)
    return Rate(
        label=label,
        tasks=len(panel),
        seeds=(min(counts, default=0), max(counts, default=0)),
        passed=sum(passes),
        judged=sum(counts),
        void=sum(voids),
        fixed=estimate(panel, Target.FIXED),
        population=estimate(panel, Target.POPULATION),
        void_bounds=void_bounds(passes, counts, voids),
        first_attempts=first.rate if len(first) else None,
    )


def rates_of(rows: Iterable[RunRow]) -> list[Rate]:
    """Return the rate of every label, by name."""
    labels: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        labels[row.label].append(row)
    return [rate_of(label, labels[label]) for label in sorted(labels)]
