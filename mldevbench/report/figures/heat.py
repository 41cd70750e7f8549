"""Heat map: every task by agent, with the fraction of runs that passed written in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mldevbench.records import Outcome
from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, missing
from mldevbench.report.grouping import Group, groups_of
from mldevbench.report.naming import task_name, tasks_in_order
from mldevbench.report.table import Records
from mldevbench.report.tables import mark

TITLE = "Runs that passed, by task and agent"


def heat(evidence: Evidence) -> Figure:
    groups = groups_of(evidence.rows)
    tasks = [task for task, _ in tasks_in_order(evidence.rows)]
    if not tasks:
        return missing("heat", TITLE, "there is no run")
    cells = [[_rate(group, task) for group in groups] for task in tasks]
    records = [
        (task, group.name, value, mark(group.runs(task)))
        for task, line in zip(tasks, cells, strict=True)
        for group, value in zip(groups, line, strict=True)
    ]
    always = sum(all(value == 1.0 for value in line) for line in cells)
    never = sum(all(value == 0.0 for value in line) for line in cells)
    alt = f"{len(tasks)} tasks by {len(groups)} agents. {always} tasks were passed by every run, {never} by none."
    size = (3.6 + 0.95 * len(groups), 1.4 + 0.23 * len(tasks))
    return Figure(
        "heat", TITLE, alt, Records(("task", "label", "rate", "runs"), tuple(records)),
        lambda canvas: _draw(canvas, tasks, groups, cells), size,
    )  # fmt: skip


def _rate(group: Group, task: str) -> float | None:
    judged = [row for row in group.runs(task) if row.outcome is not Outcome.VOID]
    return sum(row.outcome is Outcome.PASSED for row in judged) / len(judged) if judged else None


def _draw(canvas: Any, tasks: Sequence[str], groups: Sequence[Group], cells: Sequence[Sequence[float | None]]) -> None:
    from matplotlib.patches import Rectangle

    axes = canvas.subplots()
    values = [[float("nan") if value is None else value for value in line] for line in cells]
    image = axes.imshow(values, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for y, task in enumerate(tasks):
        for x, group in enumerate(groups):
            value = cells[y][x]
            if value is None:
                axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, hatch="////", edgecolor="#999999"))
            dark = value is not None and value < 0.55
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1} if value is None else None
            axes.text(
                x, y, mark(group.runs(task)), ha="center", va="center", fontsize=7, color="white" if dark else "black",
                bbox=box, in_layout=False,
            )  # fmt: skip
    axes.set_xticks(range(len(groups)), [clean(group.name, 24) for group in groups], rotation=30, ha="right")
    axes.set_yticks(range(len(tasks)), [clean(task_name(task), 48) for task in tasks], fontsize=7)
    canvas.colorbar(image, ax=axes, shrink=0.6).set_label("share passed")
    if any(value is None for line in cells for value in line):
        canvas.supxlabel("hatched: no judged run", fontsize=7)
