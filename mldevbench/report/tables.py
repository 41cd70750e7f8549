"""The paper's Tables 2 and 3 from result rows; void runs are left out of every rate and counted beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mldevbench.records import Outcome, RunRow
from mldevbench.report.grouping import Group, groups_of
from mldevbench.report.naming import categories_in_order, category_name, task_name, tasks_in_order
from mldevbench.report.table import Records, Table
from mldevbench.report.wording import UNKNOWN, bracket, percent

if TYPE_CHECKING:
    from mldevbench.rates import Rate

RATE_COLUMNS = ("category", "label", "passed", "judged", "void", "rate", "low", "high", "these_low", "these_high")


def success_by_category(rows: Iterable[RunRow]) -> Table:
    """Table 2: the share of runs that passed, by category and agent, with its interval for tasks like these."""
    listed = list(rows)
    groups = groups_of(listed)
    rates = {
        category: [_rate(group, category) for group in groups] for category in (*categories_in_order(listed), "all")
    }
    body = [(category_name(name), *map(rate_cell, found)) for name, found in rates.items() if name != "all"]
    body.append(("Total", *map(rate_cell, rates["all"])))
    body += _extras(rates["all"])
    return Table(
        "Table 2: success by category",
        ("category", *(group.name for group in groups)),
        tuple(body),
        _category_note(rates["all"]),
        "table2",
        Records(RATE_COLUMNS, tuple(_record(name, rate) for name, found in rates.items() for rate in found)),
    )


def _rate(group: Group, category: str) -> Rate:
    from mldevbench.rates import rate_of

    return rate_of(group.name, [row for row in group.rows if category in ("all", row.category)])


def rate_cell(rate: Rate) -> str:
    """Write a rate as the paper does, then its interval and what is void."""
    void = f", {rate.void} void" if rate.void else ""
    if not rate.judged:
        return f"no result{void}" if rate.void else UNKNOWN
    interval = rate.population.interval
    said = f" {bracket(interval)}" if interval else ""
    return f"{percent(rate.population.rate)} ({rate.passed}/{rate.judged}){said}{void}"


def _extras(rates: Sequence[Rate]) -> list[tuple[str, ...]]:
    found = [("These tasks only, 95%", *(bracket(rate.fixed.interval) for rate in rates))]
    if any(rate.void for rate in rates):
        found.append(("Void", *(str(rate.void) for rate in rates)))
        found.append(("Total, void as failed", *(percent(rate.void_bounds.low) for rate in rates)))
        found.append(("Total, void as passed", *(percent(rate.void_bounds.high) for rate in rates)))
        found.append(("First attempts only", *(percent(rate.first_attempts) for rate in rates)))
    return found


def _category_note(rates: Sequence[Rate]) -> str:
    note = (
        "Percent (passed/judged), every task weighing the same; brackets: 95% interval in percent for tasks like these."
    )
    voids = sum(rate.void for rate in rates)
    return note + (f" {voids} void runs are left out of every rate." if voids else "")


def _record(category: str, rate: Rate) -> tuple[str | int | float | None, ...]:
    population, fixed = rate.population.interval, rate.fixed.interval
    return (
        category, rate.label, rate.passed, rate.judged, rate.void,
        rate.population.rate if rate.judged else None,
        population.low if population else None, population.high if population else None,
        fixed.low if fixed else None, fixed.high if fixed else None,
    )  # fmt: skip


def outcomes_by_task(rows: Iterable[RunRow]) -> Table:
    """Table 3: how each task went, by agent."""
    listed = list(rows)
    groups = groups_of(listed)
    tasks = tasks_in_order(listed)
    body = [
        (task_name(task), category_name(category), *(mark(group.runs(task)) for group in groups))
        for task, category in tasks
    ]
    records = [(task, category, group.name, *_counts(group.runs(task))) for task, category in tasks for group in groups]
    return Table(
        "Table 3: outcome by task",
        ("task", "category", *(group.name for group in groups)),
        tuple(body),
        "✓ passed, ✗ failed; c/K: c of K judged runs passed; void runs stand beside.",
        "table3",
        Records(("task", "category", "label", "passed", "judged", "void"), tuple(records)),
    )


def _counts(rows: Sequence[RunRow]) -> tuple[int, int, int]:
    passed = sum(row.outcome is Outcome.PASSED for row in rows)
    void = sum(row.outcome is Outcome.VOID for row in rows)
    return passed, len(rows) - void, void


def mark(rows: Sequence[RunRow]) -> str:
    """One run is a mark, several are a fraction."""
    passed, judged, void = _counts(rows)
    if judged == 1 and not void:
        return "✓" if passed else "✗"
    if not judged:
        return ("void" if void == 1 else f"{void} void") if void else UNKNOWN
    return f"{passed}/{judged}" + (f" ({void} void)" if void else "")
