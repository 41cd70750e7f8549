"""The paper's tables from result rows; void runs are left out of every rate and counted beside it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mldevbench.records import Outcome, RunRow

CATEGORIES = (
    "dataset_handling", "model_training", "debugging", "model_implementation", "api_integration", "performance",
    "extra",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass
class Count:
    passed: int = 0
    judged: int = 0
    void: int = 0

    def add(self, row: RunRow) -> None:
        self.void += row.outcome is Outcome.VOID
        self.judged += row.outcome is not Outcome.VOID
        self.passed += row.outcome is Outcome.PASSED

    def __str__(self) -> str:
        if not self.judged:
            return "void" if self.void else "–"
        return f"{100 * self.passed / self.judged:.0f}% ({self.passed}/{self.judged})"


def success_by_category(rows: Iterable[RunRow]) -> Table:
    """Table 2: the share of runs that passed, by category and agent."""
    counts: dict[tuple[str, str], Count] = defaultdict(Count)
    listed = list(rows)
    labels, categories = _labels(listed), _categories(listed)
    for row in listed:
        counts[row.category, row.label].add(row)
        counts["all", row.label].add(row)
    body = [(name, *(str(counts[name, label]) for label in labels)) for name in (*categories, "all")]
    voids = sum(counts["all", label].void for label in labels)
    note = f"{voids} void runs are left out; counted as failed: " if voids else ""
    if voids:
        strict = [counts["all", label] for label in labels]
        note += ", ".join(
            f"{label} {100 * count.passed / max(count.judged + count.void, 1):.0f}%"
            for label, count in zip(labels, strict, strict=True)
        )
    return Table("Success by category", ("category", *labels), tuple(body), note)


def outcomes_by_task(rows: Iterable[RunRow]) -> Table:
    """Table 3: how each task went, by agent."""
    counts: dict[tuple[str, str], Count] = defaultdict(Count)
    listed = list(rows)
    labels = _labels(listed)
    for row in listed:
        counts[row.task, row.label].add(row)
    order = {name: place for place, name in enumerate(CATEGORIES)}
    tasks = sorted({(order.get(row.category, len(order)), row.category, row.task) for row in listed})
    body = [(task, category, *(_mark(counts[task, label]) for label in labels)) for _, category, task in tasks]
    return Table("Outcome by task", ("task", "category", *labels), tuple(body))


def _mark(count: Count) -> str:
    """One run is a mark, several are a fraction."""
    if count.judged == 1 and not count.void:
        return "✓" if count.passed else "✗"
    if not count.judged:
        return "void" if count.void else "–"
    return f"{count.passed}/{count.judged}" + (f" ({count.void} void)" if count.void else "")


def _labels(rows: Sequence[RunRow]) -> list[str]:
    return list(dict.fromkeys(row.label for row in sorted(rows, key=lambda row: row.label)))


def _categories(rows: Sequence[RunRow]) -> list[str]:
    present = {row.category for row in rows}
    return [name for name in CATEGORIES if name in present] + sorted(present - set(CATEGORIES))
