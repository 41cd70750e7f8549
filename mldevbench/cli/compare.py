"""`mldevbench compare`: paired comparison of labels on the same tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.completion import studies
from mldevbench.cli.figure import (
    bracket,
    counted,
    listed,
    p_text,
    per_success_text,
    percent,
    points,
    rate_text,
    seeds_text,
)
from mldevbench.cli.output import Json, Storage, print_json, print_table
from mldevbench.cli.plain import plain
from mldevbench.errors import UserError

if TYPE_CHECKING:
    from mldevbench.compare import Comparison
    from mldevbench.rates import Rate

LINES, NOTES = 24, 5  # in the default output, so that it fits a terminal


def compare(
    labels: Annotated[
        list[str],
        typer.Argument(
            metavar="STUDY:LABEL",
            help="Two or more; STUDY alone means all of its labels.",
            autocompletion=studies,
        ),
    ],
    storage: Storage = "results",
    budget: Annotated[str | None, typer.Option("--budget", help="Only runs of this budget, such as steps=50.")] = None,
    exclude_task: Annotated[list[str] | None, typer.Option("--exclude-task", help="A task to leave out.")] = None,
    across_profiles: Annotated[
        bool, typer.Option("--across-profiles", help="Set the paper beside mini, which is another benchmark.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Every task, interval and cost.")] = False,
    json_: Json = False,
) -> None:
    """Compare agents on the tasks that both ran: paired differences, exact tests, intervals, costs.

    Several labels give all pairs, corrected by Holm. Void runs are left out and bounded.

    Examples:

      mldevbench compare paper:react-sonnet paper:openhands-sonnet

      mldevbench compare my-study
    """
    from mldevbench.ask import parse_units
    from mldevbench.compare import compare as compare_all
    from mldevbench.pairing import Wish
    from mldevbench.study import BudgetFile
    from mldevbench.subject import find_subjects

    subjects = find_subjects(labels, storage)
    if len(subjects) < 2:
        raise UserError(f"{subjects[0].name} alone can't be compared; name another STUDY:LABEL")
    wanted = parse_units("--budget", budget, BudgetFile) if budget else {}
    found = compare_all(subjects, Wish(wanted, tuple(exclude_task or ()), across_profiles))
    if json_:
        print_json({"comparisons": plain(found)})
    elif len(found) == 1:
        _print_one(found[0], full)
    else:
        _print_all(found, full)


def _print_all(found: Sequence[Comparison], full: bool) -> None:
    shown = found if full else found[:LINES]
    rows = [
        (
            one.first.label, one.second.label, str(len(one.tasks)), rate_text(one.first), rate_text(one.second),
            points(one.difference), bracket(one.population, True), p_text(one.test.p_value), p_text(one.test.holm),
            _void_pair(one),
        )
        for one in shown
    ]  # fmt: skip
    columns = ("first", "second", "tasks", "first", "second", "points", "95% interval", "p", "p (Holm)", "void")
    print_table("Paired differences, first less second", columns, rows)
    if len(found) > len(shown):
        print(f"… and {len(found) - len(shown)} more pairs; --full shows them")
    methods = sorted({one.test.method for one in found})
    print(f"{' and '.join(methods)}; intervals are for tasks like these; Holm corrects for {len(found)} pairs")
    if any(any(one.voids) for one in found):
        print("void runs are left out; in brackets the difference if they had failed or passed, whichever way is worse")
    notes = list(dict.fromkeys(note for one in found for note in one.notes))
    for note in notes if full else notes[:NOTES]:
        print(f"note: {note}")
    if full:
        for one in found:
            print()
            _print_one(one, True)


def _print_one(one: Comparison, full: bool) -> None:
    print(f"{one.first.label} against {one.second.label}: {counted(len(one.tasks), 'task')} in common")
    for rate in (one.first, one.second):
        print(f"  {rate.label}: {rate_text(rate)}, {seeds_text(rate.seeds)} judged per task{_voids(rate)}")
    print(f"difference {points(one.difference)} points, {one.test.method} p = {p_text(one.test.p_value)}")
    print(f"  tasks like these: 95% interval {bracket(one.population, True)} ({one.population_method})")
    these = bracket(one.fixed, True) if one.fixed else "unknown, one seed can't tell"
    print(f"  these tasks only: 95% interval {these}")
    if one.detectable is not None:
        print(f"  so many tasks show a difference of {100 * one.detectable:.0f} points or more (power 80%)")
    _print_flips(one, full)
    _print_void(one)
    _print_costs(one)
    for note in one.notes:
        print(f"note: {note}")
    if full:
        rows = [(task.task, percent(task.first), percent(task.second), points(task.difference)) for task in one.tasks]
        print_table("", ("task", "first", "second", "points"), rows)


def _void_pair(one: Comparison) -> str:
    first, second = one.voids
    return f"{first}, {second} {bracket(one.void_bounds, True)}" if any(one.voids) else "0"


def _voids(rate: Rate) -> str:
    first = "" if rate.first_attempts is None else f", first attempts {percent(rate.first_attempts)}"
    if not rate.void:
        return ""
    return f"; {rate.void} void{first}, if all void failed or passed {bracket(rate.void_bounds)}"


def _print_flips(one: Comparison, full: bool) -> None:
    for rate, sign in ((one.first, 1), (one.second, -1)):
        better = [task.task for task in one.tasks if sign * task.difference > 0]
        print(f"better with {rate.label}: {len(better)} ({listed(better, len(better) if full else 8)})")


def _print_void(one: Comparison) -> None:
    if any(one.voids):
        favour = "may favour one side" if one.void_p < 0.05 else "fall on both alike as far as can be told"
        first, second = one.voids
        bounds = bracket(one.void_bounds, True)
        print(f"void runs ({first} and {second}) {favour} (exact p = {p_text(one.void_p)}); as bounds {bounds}")


def _print_costs(one: Comparison) -> None:
    costs = one.costs
    print(f"dollars per success: {per_success_text(costs.first)} against {per_success_text(costs.second)}")
    if costs.ratio and not math.isnan(costs.ratio.ratio):
        low, high = costs.ratio.interval
        print(
            f"  the second costs {costs.ratio.ratio:.2f} times the first [{low:.2f}, {high:.2f}] "
            f"on {costs.ratio.tasks} tasks (Wilcoxon p = {p_text(costs.ratio.p_value)})"
        )
