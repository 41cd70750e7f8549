"""The paper's Table 4, cost and tokens by task, and what else a task took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mldevbench.rates import judged
from mldevbench.records import RunRow
from mldevbench.report.grouping import Group, groups_of
from mldevbench.report.measure import Measure, mean_of, per_success
from mldevbench.report.naming import task_name, tasks_in_order
from mldevbench.report.table import Records, Table
from mldevbench.report.wording import UNKNOWN

PAID = (Measure.USD, Measure.TOKENS)
EFFORT = (Measure.STEPS, Measure.WORKING, Measure.GPU)
UNITS = {
    Measure.USD: "cost", Measure.TOKENS: "tokens", Measure.STEPS: "steps", Measure.WORKING: "working time",
    Measure.GPU: "GPU-seconds",
}  # fmt: skip
Rows = Sequence[RunRow]


def cost_by_task(rows: Iterable[RunRow]) -> Table:
    """Table 4: mean dollars and tokens of a run by task and agent, and their sums over tasks."""
    listed = judged(rows)
    groups = [group for group in groups_of(listed) if any(_known(group.rows, measure) for measure in PAID)]
    tasks = [task for task, _ in tasks_in_order(listed) if any(_paid(group.runs(task)) for group in groups)]
    body = [(task_name(task), *_cells(groups, task, PAID)) for task in tasks]
    body.append(("Total", *(_total(group, tasks, measure) for group in groups for measure in PAID)))
    return Table(
        "Table 4: cost and tokens by task",
        ("task", *(f"{group.name} {UNITS[measure]}" for group in groups for measure in PAID)),
        tuple(body),
        _note(listed, tasks),
        "table4",
        _records(groups, tasks, (*PAID, *EFFORT)),
    )


def effort_by_task(rows: Iterable[RunRow]) -> Table:
    """Beside Table 4: steps, working time, GPU-seconds and dollars per success."""
    listed = judged(rows)
    groups = [group for group in groups_of(listed) if any(_known(group.rows, measure) for measure in (*EFFORT, *PAID))]
    tasks = [task for task, _ in tasks_in_order(listed)]
    measures = [measure for measure in EFFORT if any(_known(group.rows, measure) for group in groups)]
    columns = [*(UNITS[measure] for measure in measures), "$ per success"]
    body = [
        (task_name(task), *_each(groups, task, measures, lambda rows: per_success(rows) if rows else UNKNOWN))
        for task in tasks
    ]
    totals = [_all(group, tasks, measures) for group in groups]
    body.append(("Total", *(cell for cells in totals for cell in cells)))
    return Table(
        "Effort by task",
        ("task", *(f"{group.name} {column}" for group in groups for column in columns)),
        tuple(body),
        "Means of judged runs; totals are sums over tasks, dollars per success over all runs; '>' is a lower bound "
        "where nothing passed.",
        "effort",
    )


def _known(rows: Rows, measure: Measure) -> bool:
    return any(measure.of(row) is not None for row in rows)


def _paid(rows: Rows) -> bool:
    return any(_known(rows, measure) for measure in PAID)


def _cells(groups: Sequence[Group], task: str, measures: Sequence[Measure]) -> list[str]:
    return [mean_of(group.runs(task), measure).text(measure) for group in groups for measure in measures]


def _each(groups: Sequence[Group], task: str, measures: Sequence[Measure], last: Callable[[Rows], str]) -> list[str]:
    found: list[str] = []
    for group in groups:
        found += [*_cells([group], task, measures), last(group.runs(task))]
    return found


def _all(group: Group, tasks: Sequence[str], measures: Sequence[Measure]) -> list[str]:
    return [*(_total(group, tasks, measure) for measure in measures), per_success(group.rows)]


def _total(group: Group, tasks: Sequence[str], measure: Measure) -> str:
    """Sum what the tasks cost on average; tasks of which nothing is known are named by the dash in their row."""
    means = [mean.value for task in tasks if (mean := mean_of(group.runs(task), measure)).value is not None]
    return measure.text(sum(value for value in means if value is not None)) if means else UNKNOWN


def _note(rows: Rows, tasks: Sequence[str]) -> str:
    silent = [task_name(task) for task, _ in tasks_in_order(rows) if task not in tasks]
    note = "Means of judged runs; the total is the sum over tasks. A dash is unknown, never 0."
    return note + (f" Nothing is known of: {', '.join(silent)}." if silent else "")


def _records(groups: Sequence[Group], tasks: Sequence[str], measures: Sequence[Measure]) -> Records:
    rows = [
        (task, group.name, len(runs), *(mean_of(runs, measure).value for measure in measures))
        for task in tasks
        for group in groups
        if (runs := group.runs(task))
    ]
    return Records(("task", "label", "runs", *map(str, measures)), tuple(rows))
