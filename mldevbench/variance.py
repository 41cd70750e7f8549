"""Variance of a study: where it comes from, which tasks are flaky and how, what more seeds would buy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mldevbench.budget_key import BudgetKey, budget_of
from mldevbench.rates import Rate, by_task, judged, outcomes, panel_of, rate_of
from mldevbench.records import Outcome, RegradeRow, RunRow
from mldevbench.stats.bootstrap import mean_interval
from mldevbench.stats.contingency import fisher
from mldevbench.stats.flaky import mixed_belief
from mldevbench.stats.interval import Interval, normal_quantile, student_quantile
from mldevbench.stats.multiplicity import benjamini_hochberg
from mldevbench.stats.nested import nested_components
from mldevbench.stats.panel import Panel, components, fixed_error, population_error
from mldevbench.stats.power import seeds_for_half_width
from mldevbench.stats.repeat import consistency, largest_k, pass_all_k, pass_at_k

Regrades = Mapping[str, Sequence[bool]]  # by run id: the verdicts of further validations of the same submission
LEVELS = ("task", "instance", "seed", "validator")
SURE = 0.9
SCREEN = 0.05
LEAST_SEEDS = 3


@dataclass(frozen=True)
class Component:
    """One level's variance; None where nothing was repeated."""

    level: str
    variance: float | None
    share: float | None


@dataclass(frozen=True)
class Flaky:
    """A task that goes either way, and by whose doing: the agent's, the validator's or the node's."""

    task: str
    kind: str
    passed: int
    judged: int
    evidence: str


@dataclass(frozen=True)
class Attempts:
    """The chance that at least one, and that all, of k runs pass."""

    k: int
    at_least_one: float
    at_least_one_interval: Interval
    all: float
    all_interval: Interval


@dataclass(frozen=True)
class Purchase:
    """The half-widths that a number of seeds would give."""

    seeds: int
    fixed: float
    population: float


@dataclass(frozen=True)
class Variance:
    """All of it for one label at one budget."""

    label: str
    budget: BudgetKey
    rate: Rate
    components: tuple[Component, ...]
    consistency: float | None
    attempts: tuple[Attempts, ...]
    flaky: tuple[Flaky, ...]
    purchases: tuple[Purchase, ...]


def analyse(rows: Iterable[RunRow], regrades: Regrades | None = None) -> list[Variance]:
    """Analyse every label; different budgets and samples are never pooled."""
    groups: dict[tuple[str, BudgetKey, int], list[RunRow]] = defaultdict(list)
    for row in rows:
        groups[row.label, budget_of(row), row.samples].append(row)
    keys = sorted(groups, key=lambda key: (key[0], str(key[1]), key[2]))
    return [_variance(label, budget, groups[label, budget, samples], regrades or {}) for label, budget, samples in keys]


def repeated_verdicts(rows: Iterable[RegradeRow]) -> dict[str, list[bool]]:
    """Return the verdicts of the same validator on the same submission; a changed validator is no repeat."""
    found: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        if row.validator_digest == row.validator_digest_before and row.outcome is not Outcome.VOID:
            found[row.run_id].append(row.outcome is Outcome.PASSED)
    return dict(found)


def _variance(label: str, budget: BudgetKey, rows: Sequence[RunRow], regrades: Regrades) -> Variance:
    panel = panel_of(rows)
    tasks = {task: runs for task, runs in by_task(judged(rows)).items()}
    return Variance(
        label=label,
        budget=budget,
        rate=rate_of(label, rows),
        components=split(tasks, regrades),
        consistency=_consistency(panel),
        attempts=attempts(panel),
        flaky=tuple(flaky_tasks(tasks, regrades)),
        purchases=purchases(panel),
    )


def split(tasks: Mapping[str, Sequence[RunRow]], regrades: Regrades) -> tuple[Component, ...]:
    """Split the variance of single verdicts by task, instance, seed and validator."""
    tree = [_instances(runs, regrades) for runs in tasks.values()]
    found = nested_components(tree, len(LEVELS)) if tree else [None] * len(LEVELS)
    total = sum(value or 0.0 for value in found)
    return tuple(
        Component(level, value, None if value is None or not total else value / total)
        for level, value in zip(LEVELS, found, strict=True)
    )


def _instances(runs: Sequence[RunRow], regrades: Regrades) -> list[list[list[float]]]:
    instances: dict[int, list[list[float]]] = defaultdict(list)
    for row in runs:
        verdicts = [row.outcome is Outcome.PASSED, *regrades.get(row.run_id, ())]
        instances[row.instance].append([float(verdict) for verdict in verdicts])
    return list(instances.values())


def _consistency(panel: Panel) -> float | None:
    values = [
        consistency(int(total), int(passed))
        for total, passed in zip(panel.totals, panel.passes, strict=True)
        if total > 1
    ]
    return float(np.mean(values)) if values else None


def attempts(panel: Panel) -> tuple[Attempts, ...]:
    """Return pass@k and pass^k up to half of the runs at hand, over the tasks that have as many."""
    totals, passes = panel.totals.tolist(), [int(passed) for passed in panel.passes]
    found = []
    for k in range(1, largest_k(totals) + 1):
        pairs = [(n, c) for n, c in zip(totals, passes, strict=True) if n >= k]
        one, every = ([measure(n, c, k) for n, c in pairs] for measure in (pass_at_k, pass_all_k))
        if pairs:
            means = float(np.mean(one)), float(np.mean(every))
            found.append(Attempts(k, means[0], mean_interval(one), means[1], mean_interval(every)))
    return tuple(found)


def flaky_tasks(tasks: Mapping[str, Sequence[RunRow]], regrades: Regrades) -> list[Flaky]:
    """Name the flaky tasks; a task may be flaky in more than one way."""
    by_node = _node_values(tasks)
    found = []
    for task, runs in tasks.items():
        passed, total = int(sum(outcomes(runs))), len(runs)
        torn = [row.run_id for row in runs if len({row.outcome is Outcome.PASSED, *regrades.get(row.run_id, ())}) > 1]
        if torn:
            evidence = f"{len(torn)} submissions judged both ways, such as run {torn[0]}"
            found.append(Flaky(task, "validator", passed, total, evidence))
        if by_node.get(task, 1.0) < SCREEN:
            evidence = f"outcome depends on the node (Fisher, corrected p = {by_node[task]:.2g})"
            found.append(Flaky(task, "node", passed, total, evidence))
        belief = mixed_belief(passed, total)
        if belief > SURE:
            found.append(Flaky(task, "agent", passed, total, f"rate between 10% and 90% with {belief:.0%} belief"))
    return found


def _node_values(tasks: Mapping[str, Sequence[RunRow]]) -> dict[str, float]:
    """Return the corrected p, for tasks that ran on several nodes, that the node doesn't matter."""
    names, values = [], []
    for task, runs in tasks.items():
        nodes: dict[str, list[float]] = defaultdict(list)
        for row in runs:
            if row.node:
                nodes[row.node].append(float(row.outcome is Outcome.PASSED))
        if len(nodes) > 1:
            names.append(task)
            values.append(fisher([int(sum(one)) for one in nodes.values()], [len(one) for one in nodes.values()]))
    return dict(zip(names, benjamini_hochberg(values), strict=True))


def purchases(panel: Panel) -> tuple[Purchase, ...]:
    """Return what more seeds would buy; nothing where seeds weren't repeated."""
    if len(panel) < 2 or (panel.totals < 2).all():
        return ()
    found, tasks = components(panel), len(panel)
    if found.within == 0:  # no task went both ways: nothing to project from
        return ()
    now = max(1, round(float(panel.totals.mean())))
    student, normal = student_quantile(tasks - 1), normal_quantile()
    return tuple(
        Purchase(
            seeds,
            normal * fixed_error(found.within, tasks, seeds),
            student * population_error(found.between, found.within, tasks, seeds),
        )
        for seeds in (now, 2 * now, 4 * now, 10 * now)
    )


def seeds_owed(rows: Iterable[RunRow], half_width: float) -> int:
    """Return how many seeds in all make every label's `fixed` interval this narrow; never fewer than three.

    Rounds of whole seeds that stop when narrow keep their coverage; stopping when significant would not.
    """
    wanted = LEAST_SEEDS
    for found in analyse(rows):
        interval, now = found.rate.fixed.interval, found.rate.seeds[0]
        if interval is None or now < LEAST_SEEDS:
            continue
        if interval.half_width <= half_width:
            wanted = max(wanted, now)
            continue
        within = (found.rate.fixed.error or 0.0) ** 2 * found.rate.tasks * now
        wanted = max(wanted, now + 1, seeds_for_half_width(half_width, found.rate.tasks, within))
    return wanted
