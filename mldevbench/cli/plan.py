"""`mldevbench plan`: how many seeds, at what cost, before anything is spent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.figure import counted
from mldevbench.cli.output import Json, Storage, print_json, print_table
from mldevbench.cli.plain import plain
from mldevbench.errors import UserError

if TYPE_CHECKING:
    from mldevbench.planner import Assumption, Forecast

SPREADS = {"within": "between seeds of a task", "between": "between tasks"}


def plan(
    pilot: Annotated[
        str | None, typer.Argument(metavar="STUDY[:LABEL]", help="Runs to learn from; without, usual assumptions.")
    ] = None,
    storage: Storage = "results",
    half_width: Annotated[float, typer.Option("--half-width", help="Wanted half-width of a rate's interval.")] = 0.05,
    effect: Annotated[float, typer.Option("--effect", help="Difference of two agents that must show.")] = 0.10,
    power: Annotated[float, typer.Option("--power", help="Chance that it shows.")] = 0.8,
    agents: Annotated[int, typer.Option("--agents", help="How many agents the study has.")] = 2,
    tasks: Annotated[
        int | None, typer.Option("--tasks", help="How many tasks; without it: the pilot's, or 30.")
    ] = None,
    within: Annotated[float | None, typer.Option("--within", help="Variance between seeds of a task.")] = None,
    between: Annotated[float | None, typer.Option("--between", help="Variance between tasks' rates.")] = None,
    usd_per_run: Annotated[float | None, typer.Option("--usd-per-run", help="Dollars of one run.")] = None,
    gpu_hours_per_run: Annotated[float | None, typer.Option("--gpu-hours-per-run", help="Of one run.")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also the variances and what is assumed of differences.")
    ] = False,
    json_: Json = False,
) -> None:
    """Say how many seeds a half-width or an effect takes, and what that costs.

    Examples:

      mldevbench plan --half-width 0.05 --usd-per-run 0.40

      mldevbench plan my-pilot:react-gpt-4o --effect 0.15
    """
    from mldevbench.planner import Assumption, Goal, forecast, from_pilot

    for name, value in (("--half-width", half_width), ("--effect", effect), ("--power", power)):
        if not 0 < value < 1:
            raise UserError(f"{name} {value:g}: give a share between 0 and 1, such as 0.1 for ten points")
    for name, value in (("--agents", agents), ("--tasks", tasks)):
        if value is not None and value < 1:
            raise UserError(f"{name} {value}: must be at least 1")
    for name, value, most in (("--within", within, 0.25), ("--between", between, 0.25)):
        if value is not None and not 0 < value <= most:
            raise UserError(f"{name} {value:g}: the variance of yes and no lies between 0 and {most}")
    if pilot:
        from mldevbench.subject import find_subjects

        rows = [row for subject in find_subjects([pilot], storage) for row in subject.rows]
        assumption = from_pilot(rows, f"pilot {pilot}", tasks)
    else:
        assumption = Assumption("usual assumptions", tasks or 30)
    assumption = _said(assumption, within, between, usd_per_run, gpu_hours_per_run)
    found = forecast(assumption, Goal(half_width, effect, agents, power=power))
    if json_:
        print_json(plain(found))
    else:
        _print(found, full)


def _said(
    assumption: Assumption, within: float | None, between: float | None, usd: float | None, gpu_hours: float | None
) -> Assumption:
    """Lay what the person says over what is assumed."""
    said = {
        "within": within,
        "between": between,
        "usd": None if usd is None else (usd, usd, usd),
        "gpu_hours": None if gpu_hours is None else (gpu_hours, gpu_hours, gpu_hours),
    }
    known = {key: value for key, value in said.items() if value is not None}
    usual = tuple(name for name in assumption.usual if name not in known)
    return replace(assumption, **known, usual=usual)


def _print(found: Forecast, full: bool) -> None:
    goal, given = found.goal, found.assumption
    tasks = counted(given.tasks, "task")
    print(f"plan for {counted(goal.agents, 'agent')} on {tasks}, from {given.source}")
    width, effect = 100 * goal.half_width, 100 * goal.effect
    print(f"  a rate within ±{width:g} points on these tasks: {found.seeds_for_half_width} seeds")
    print(
        f"  a difference of {effect:g} points on these tasks (power {goal.power:.0%}): {found.seeds_for_effect} seeds"
    )
    across = found.seeds_for_effect_population
    print(
        f"  a difference of {effect:g} points on tasks like these: "
        + (f"{across} seeds" if across else f"no number of seeds shows it on {tasks}")
    )
    columns = ("seeds", "± these", "± tasks like these", "shows these", "shows like these", "runs", "dollars", "GPU-h")
    rows = [
        (
            f"{point.seeds}{' *' if point.seeds == found.wanted else ''}",
            f"{100 * point.fixed:.1f}", _width(point.population),
            _effect(point.effect_fixed), _effect(point.effect_population),
            str(point.runs), _range(point.usd, "$"), _range(point.gpu_hours, ""),
        )
        for point in found.points
    ]  # fmt: skip
    print_table("What seeds buy, in points", columns, rows, "* meets both wishes for these tasks")
    print(
        f"What {tasks} can't tell: with any number of seeds, a rate for tasks like these is known within "
        f"±{_width(found.population_floor)} points at best, and two agents must differ by "
        f"{100 * min(found.effect_floor, 1):.0f} points to be told apart. More tasks help there, more seeds don't."
    )
    if given.usual:
        silent = " and ".join(SPREADS[name] for name in given.usual)
        print(f"the pilot shows no spread {silent}: the usual one is assumed (--within, --between say another)")
    if given.usd is None:
        print("dollars unknown; add --usd-per-run, or name a pilot whose costs are known")
    if full:
        print(f"variance between seeds {given.within:.3f}, between tasks {given.between:.3f},")
        print(f"of the difference of two agents over tasks {given.effect_variance:.3f} (assumed)")


def _width(half_width: float) -> str:
    """No rate is known worse than within a hundred points."""
    return f"{100 * min(half_width, 1.0):.1f}"


def _effect(difference: float) -> str:
    """No two rates differ by more than a hundred points."""
    return f"{100 * difference:.0f}" if difference <= 1 else "–"


def _range(values: tuple[float, float, float] | None, unit: str) -> str:
    if values is None:
        return "unknown"
    low, middle, high = (f"{unit}{value:.2f}" if value < 10 else f"{unit}{value:.0f}" for value in values)
    return middle if low == high else f"{middle} ({low}–{high})"
