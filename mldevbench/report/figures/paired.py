"""Paired differences: task by task, the best agent against each other one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mldevbench.errors import UserError
from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, missing
from mldevbench.report.grouping import Group, groups_of
from mldevbench.report.naming import TASKS, task_name
from mldevbench.report.table import Records
from mldevbench.report.wording import listed

if TYPE_CHECKING:
    from mldevbench.compare import Comparison

TITLE = "Paired differences by task"
MOST = 4  # panels
ORDER = {task: place for place, task in enumerate(TASKS)}


def paired(evidence: Evidence) -> Figure:
    groups = _best_first([group for group in groups_of(evidence.rows)])
    if len(groups) < 2:
        return missing("paired", TITLE, "needs two agents with judged runs")
    found, refused = _compared(groups)
    if not found:
        return missing("paired", TITLE, f"nothing can be paired: {refused[0]}")
    rows = [
        (one.first.label, one.second.label, task.task, task.first, task.second, task.difference)
        for one in found
        for task in one.tasks
    ]
    alt = "; ".join(_said(one) for one in found)
    tasks = max(len(one.tasks) for one in found)
    return Figure(
        "paired", TITLE, f"{alt}.",
        Records(("first", "second", "task", "first_rate", "second_rate", "difference"), tuple(rows)),
        lambda canvas: _draw(canvas, found, refused), (3.2 + 2.1 * len(found), 1.8 + 0.2 * tasks),
    )  # fmt: skip


def _best_first(groups: Sequence[Group]) -> list[Group]:
    from mldevbench.rates import judged, task_means

    rates = {}
    for group in groups:
        means = task_means(judged(group.rows))
        if means:
            rates[group.name] = sum(means.values()) / len(means)
    kept = [group for group in groups if group.name in rates]
    return sorted(kept, key=lambda group: -rates[group.name])


def _compared(groups: Sequence[Group]) -> tuple[list[Comparison], list[str]]:
    """Compare the best with the next ones; what can't be paired says why."""
    from mldevbench.compare import compare_pair
    from mldevbench.pairing import Wish, pair
    from mldevbench.stats.multiplicity import holm
    from mldevbench.subject import Subject

    def subject(group: Group) -> Subject:
        return Subject(group.rows[0].study, group.name, group.rows)

    found, refused = [], []
    for other in groups[1:]:
        if len(found) == MOST:
            break
        try:
            found.append(compare_pair(pair(subject(groups[0]), subject(other), Wish()), costs=False))
        except UserError as error:
            refused.append(str(error))
    # The best was found by looking at all of them, so the correction is for every pair that was looked at.
    unseen = len(groups) * (len(groups) - 1) // 2 - len(found)
    corrected = holm([*(one.test.p_value for one in found), *[1.0] * unseen])[: len(found)]
    found = [replace(one, test=replace(one.test, holm=value)) for one, value in zip(found, corrected, strict=True)]
    return found, refused


def _said(one: Comparison) -> str:
    low, high = one.population
    return (
        f"{one.first.label} less {one.second.label}: {100 * one.difference:+.1f} points "
        f"[{100 * low:+.1f}, {100 * high:+.1f}], {one.test.method} p = {one.test.holm:.3g} (Holm)"
    )


def _draw(canvas: Any, found: Sequence[Comparison], refused: Sequence[str]) -> None:
    panels = canvas.subplots(1, len(found), squeeze=False)[0]
    present = {task.task for one in found for task in one.tasks}
    tasks = sorted(present, key=lambda task: (ORDER.get(task, len(ORDER)), task))
    order = {task: place for place, task in enumerate(tasks)}
    for axes, one in zip(panels, found, strict=True):
        axes.axvline(0, color="#888888", linewidth=0.8)
        for side, sign, fits in ((0, ">", operator.gt), (1, "<", operator.lt), (7, "|", operator.eq)):
            chosen = [task for task in one.tasks if fits(task.difference, 0)]
            points, lines = [100 * task.difference for task in chosen], [order[task.task] for task in chosen]
            if chosen:  # nothing has no place, and would take the layout's away
                axes.hlines(lines, 0, points, color=colour(side), linewidth=1.5, capstyle="projecting")
                axes.plot(points, lines, sign, color=colour(side), markersize=6, clip_on=False)
        low, high = (100 * edge for edge in one.population)
        axes.errorbar(
            [100 * one.difference], [len(tasks) + 0.6],
            xerr=[[100 * one.difference - low], [high - 100 * one.difference]],
            fmt="D", color="black", markersize=6, capsize=3,
        )  # fmt: skip
        names = f"{clean(one.first.label.split(':')[-1], 26)}\nless {clean(one.second.label.split(':')[-1], 26)}"
        axes.set_title(f"{names}\np = {one.test.holm:.3g} (Holm)", fontsize=8)
        axes.set_xlim(-105, 105)
        axes.set_ylim(len(tasks) + 1.2, -1)
        axes.set_yticks([])  # the tasks stand once, at the left
        axes.set_xlabel("points", fontsize=8)
    panels[0].set_yticks(
        [*range(len(tasks)), len(tasks) + 0.6], [*(clean(task_name(task), 40) for task in tasks), "mean, 95% interval"],
        fontsize=7,
    )  # fmt: skip
    if refused:
        canvas.supxlabel(clean(f"not paired: {listed(list(refused), 1)}", 150), fontsize=6)
