"""The columns of a table: runs that may be counted together, under the shortest name that tells them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

from mldevbench.budget_key import BudgetKey
from mldevbench.records import RunRow
from mldevbench.report.naming import labels_in_order

# What must never be pooled, and how a column's name says it.
APART: tuple[tuple[str, Callable[[RunRow], object]], ...] = (
    ("study", attrgetter("study")),
    ("profile", attrgetter("profile")),
    ("budget", attrgetter(*(f"budget_{name}" for name in BudgetKey._fields))),
    ("samples", attrgetter("samples")),
    ("sandbox", attrgetter("isolation")),
    ("gpus", attrgetter("gpus")),
)


@dataclass(frozen=True)
class Group:
    name: str
    label: str
    rows: tuple[RunRow, ...]

    @cached_property
    def by_task(self) -> dict[str, list[RunRow]]:
        tasks: dict[str, list[RunRow]] = defaultdict(list)
        for row in self.rows:
            tasks[row.task].append(row)
        return dict(tasks)

    def runs(self, task: str) -> list[RunRow]:
        return self.by_task.get(task, [])


def groups_of(rows: Iterable[RunRow]) -> list[Group]:
    """Split rows by label, and a label by study, profile, budget, samples or sandbox where these differ."""
    labels: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        labels[row.label].append(row)
    return [group for label in labels_in_order(labels) for group in _split(label, labels[label])]


def _split(label: str, rows: Sequence[RunRow]) -> list[Group]:
    differing = [(name, read) for name, read in APART if _differs(name, read, rows)]
    if not differing:
        return [Group(label, label, tuple(rows))]
    parts: dict[tuple[str, ...], list[RunRow]] = defaultdict(list)
    for row in rows:
        parts[tuple(_said(name, read(row)) for name, read in differing)].append(row)
    return [Group(f"{label} ({', '.join(key)})", label, tuple(parts[key])) for key in sorted(parts)]


def _differs(name: str, read: Callable[[RunRow], object], rows: Sequence[RunRow]) -> bool:
    if name == "gpus":  # tasks ask for different numbers; only one task at two of them is a difference
        by_task: dict[str, set[object]] = defaultdict(set)
        for row in rows:
            by_task[row.task].add(read(row))
        return any(len(values) > 1 for values in by_task.values())
    values = set(map(read, rows))
    return len(values - {None, ""} if name == "sandbox" else values) > 1


def _said(name: str, value: Any) -> str:
    if name == "budget":
        return str(BudgetKey(*value))
    if name == "sandbox":
        return f"sandbox {value or 'unknown'}"
    return f"{name} {value}" if name in ("samples", "gpus") else str(value)
