"""`mldevbench scale`: how success grows with what may be spent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.figure import bracket, counted, p_text, per_success_text, percent, points, rate_text
from mldevbench.cli.output import Json, Root, Storage, StudyOrFile, note, print_json, print_table
from mldevbench.cli.plain import plain
from mldevbench.cli.regrade import Address
from mldevbench.cli.studying import STOPPING, studying
from mldevbench.cli.sweep import Sweep, parse_levels, run_grid

if TYPE_CHECKING:
    from mldevbench.axis import Axis
    from mldevbench.replaying import Replay
    from mldevbench.scaling import Scaling

FLAGS = {"gpus": "--gpus-per-run", "samples": "--samples"}
LABELS = 2  # in the default output, so that it fits a terminal


def scale(
    context: typer.Context,
    study: StudyOrFile,
    storage: Storage = "results",
    root: Root = [],
    address: Address = None,
    axis: Annotated[str, typer.Option("--axis", help="steps, tokens, usd, minutes, gpus or samples.")] = "steps",
    grid: Annotated[str, typer.Option("--grid", help="The budgets to run, such as 4,8,16,32.")] = "",
    way: Annotated[
        str, typer.Option("--way", help="rerun: at each budget; replay: the largest, graded along the way.")
    ] = "rerun",
    budget: Annotated[str, typer.Option("--budget", help="What else an attempt may spend, such as minutes=30.")] = "",
    calibrate_at: Annotated[
        float | None, typer.Option("--calibrate-at", help="The small budget at which a replay is checked by a rerun.")
    ] = None,
    at: Annotated[float | None, typer.Option("--at", help="Say the fitted success at this budget.")] = None,
    margin: Annotated[float, typer.Option("--margin", help="How far replay may be from a rerun.")] = 0.10,
    full: Annotated[bool, typer.Option("--full", help="Every label, the surface and the models.")] = False,
    json_: Json = False,
) -> None:
    """Show success against budget: rerun at each level, or replayed from long runs with graded snapshots.

    What follows STUDY goes to `mldevbench run`; without any of it a study is only analysed.

    Examples:

      mldevbench scale my-study --agent react --model openai/gpt-4o --task debugging --grid 8,16,32,64

      mldevbench scale my-study --agent react --model openai/gpt-4o --task debugging --grid 8,64 --way replay

      mldevbench scale my-study --axis steps --at 100
    """
    from mldevbench.axis import Axis
    from mldevbench.errors import unknown

    if axis not in list(Axis):
        raise unknown("axis", axis, [str(one) for one in Axis])
    if way not in ("rerun", "replay"):
        raise unknown("--way", way, ("rerun", "replay"))
    work = studying(study, context.args, storage, root, address)
    code = 0
    if work.words:
        code = run_grid(work, Sweep(Axis(axis), parse_levels(grid), way, budget, calibrate_at))
    if code in STOPPING:
        raise typer.Exit(code)
    if way == "replay":
        _grade(work.name, storage, root, address)
    _analyse(work.name, storage, Axis(axis), at, margin, full, json_)
    raise typer.Exit(code)


def _grade(study: str, storage: str, roots: Sequence[str], address: str | None) -> None:
    from mldevbench.catalog import Catalog
    from mldevbench.cli.regrade import grade_snapshots
    from mldevbench.store.study_store import find_study

    grade_snapshots(find_study(study, storage), Catalog.of([Path(folder) for folder in roots]), address)


def _analyse(study: str, storage: str, axis: Axis, at: float | None, margin: float, full: bool, as_json: bool) -> None:
    from mldevbench.owed import owed
    from mldevbench.replaying import graded_snapshots
    from mldevbench.scaling import analyse, predict
    from mldevbench.store.study_store import find_study
    from mldevbench.subject import read_rows

    store = find_study(study, storage)
    missing = owed(store, storage)
    snapshots = graded_snapshots(store.snapshots.all(), axis)
    found = analyse(read_rows(study, storage), axis, snapshots, margin=margin, ahead=full or as_json)
    predictions = {one.label: predict(one, at) for one in found} if at is not None else {}
    if as_json:
        print_json({"study": study, "owed": plain(missing), "labels": plain(found), "at": at, "success": predictions})
        return
    if missing.line:
        note(missing.line)
    both = any(len(one.levels) > 1 and one.replay and one.replay.graded for one in found)
    shown = found if full else found[: 1 if both else LABELS]
    _print(shown, full)
    if len(found) > len(shown):
        print(f"… and {counted(len(found) - len(shown), 'more label')}; --full shows them")
    for label, success in predictions.items():
        print(f"{label}: {percent(success)} fitted at {at:g} {axis}")


def _print(found: Sequence[Scaling], full: bool) -> None:
    for one in found:
        if len(one.levels) > 1:
            _print_levels(one)
        if one.replay and (len(one.levels) < 2 or one.replay.graded):
            _print_replay(one, one.replay, full)
        elif not one.levels:
            print(f"{one.label}: no task is judged at every level of {one.axis}")
        elif len(one.levels) < 2:
            print(f"{one.label}: one level of {one.axis}, which can't be replayed; run others with {FLAGS[one.axis]}")
        if full:
            _print_ahead(one)
        for text in one.notes:
            print(f"note: {text}")


def _print_levels(one: Scaling) -> None:
    rows = [
        (
            f"{level.budget:g}", rate_text(level.rate), bracket(level.rate.fixed.interval),
            bracket(level.rate.population.interval), str(level.rate.void), per_success_text(level.usd),
            "–" if level.gpu_hours is None else per_success_text(level.gpu_hours).replace("$", ""),
        )
        for level in one.levels
    ]  # fmt: skip
    columns = (str(one.axis), "passed", "these tasks", "tasks like these", "void", "$ per success", "GPU-h per success")
    print_table(
        f"{one.label}: scaling with {one.axis}, rerun at each level, {counted(one.tasks, 'task')}", columns, rows
    )
    if one.rise:
        mean = one.rise.difference
        print(
            f"largest less smallest: {points(mean.mean)} points {bracket(mean.interval, True)}, "
            f"sign-flip p = {p_text(one.rise.test.p_value)}"
        )
    if one.half:
        low, high = one.half.interval
        print(f"half of the runs pass at {one.half.budget:.3g} {one.axis} [{low:.3g}, {high:.3g}] (logistic)")


def _print_replay(one: Scaling, replay: Replay, full: bool) -> None:
    curve = replay.estimates
    rows = [
        (
            f"{budget:.3g}", percent(curve.lower[place]), percent(curve.graded[place]),
            bracket(curve.intervals[place]), percent(curve.upper[place]),
        )
        for place, budget in enumerate(curve.budgets)
    ]  # fmt: skip
    columns = (str(one.axis), "ended by then", "last snapshot", "95% interval", "any snapshot")
    known = len(columns) if replay.graded else 2
    title = f"{one.label}: {replay.title}; runs of {replay.budget:g} {one.axis}, {counted(one.tasks, 'task')}"
    print_table(title, columns[:known], [row[:known] for row in rows])
    if not replay.graded:
        print(
            "no graded snapshots: only the lower estimate is known; "
            "run other budgets with --grid, or keep snapshots with --way replay"
        )
    for budget, found in replay.calibrations.items():
        said = "agrees" if found.agrees else "does NOT agree"
        print(
            f"calibration at {budget:g}: replay {said} with the rerun, {points(found.difference.mean)} points "
            f"90% {bracket(found.interval, True)} against a margin of {100 * found.margin:g}"
        )
    if full and replay.graded:
        _print_surface(one, replay)


def _print_surface(one: Scaling, replay: Replay) -> None:
    rows = [
        (f"pass@{k}", *(percent(rate) for rate in rates))
        for k, rates in zip(replay.attempts, replay.surface, strict=True)
    ]
    budgets = [f"{budget:.3g}" for budget in replay.estimates.budgets]
    print_table(f"attempts × {one.axis}, an oracle choosing", ("", *budgets), rows)
    for total, line in replay.iso.items():
        ways = ", ".join(f"{way.attempts} × {way.budget:.3g} {percent(way.rate)}" for way in line)
        print(f"same total of {total:g}: {ways}")


def _print_ahead(one: Scaling) -> None:
    if one.ahead is None:
        return
    rows = [
        (str(point.k), *(percent(value) for value in point.models.values()), bracket(point.interval))
        for point in one.ahead.points
    ]
    columns = ("k", *one.ahead.points[0].models, "95% of all")
    title = f"{one.label}: pass@k by model, solid to {one.ahead.solid}, not beyond {one.ahead.limit}"
    print_table(title, columns, rows)
