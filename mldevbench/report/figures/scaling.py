"""Scaling: success against budget, rerun at each level and replayed from long runs between its two bounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mldevbench.axis import Axis
from mldevbench.errors import UserError
from mldevbench.records import RunRow
from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, marker, missing
from mldevbench.report.table import Records, Value
from mldevbench.report.wording import percent

if TYPE_CHECKING:
    from mldevbench.scaling import Scaling

TITLE = "Success against budget"


Scaled = tuple[Axis, "list[Scaling]"]


def scaling(scaled: Scaled) -> Figure:
    axis, found = scaled
    shown = [one for one in found if len(one.levels) > 1 or one.replay]
    if not shown:
        return missing("scaling", TITLE, "needs runs at two budgets, or long runs that can be replayed")
    alt = "; ".join(_said(one) for one in shown)
    height = 2.8 * ((len(shown) + 1) // 2) + 0.6
    return Figure(
        "scaling", f"{TITLE} ({axis})", f"{alt}.",
        Records(("label", "axis", "kind", "budget", "rate", "low", "high"), tuple(_records(shown))),
        lambda canvas: _draw(canvas, shown, axis), (7.5 if len(shown) > 1 else 5.5, height),
    )  # fmt: skip


def scaled(evidence: Evidence) -> Scaled:
    """Return the scaling along the axis that the study varies, else of its replayed steps."""
    from mldevbench.replaying import graded_snapshots
    from mldevbench.scaling import analyse

    axis = varied(evidence.rows)
    try:
        return axis, analyse(_measured(evidence.rows, axis), axis, graded_snapshots(evidence.snapshots, axis))
    except UserError:
        return axis, []


def varied(rows: Sequence[RunRow]) -> Axis:
    """Return the axis with the most levels for one label and task."""
    levels: dict[tuple[Axis, str, str], set[float | None]] = defaultdict(set)
    for row in rows:
        for axis in Axis:
            levels[axis, row.label, row.task].add(axis.allowed(row))
    most = {axis: max((len(seen) for key, seen in levels.items() if key[0] is axis), default=0) for axis in Axis}
    return max(Axis, key=lambda axis: most[axis])  # steps come first where nothing varies


def _measured(rows: Sequence[RunRow], axis: Axis) -> list[RunRow]:
    """Leave out agents that spent nothing on the axis, such as published ones whose spending is unknown."""
    spenders = {row.label for row in rows if axis.spent(row)}
    return [row for row in rows if row.label in spenders]


def _said(one: Scaling) -> str:
    levels = ", ".join(f"{level.budget:g}: {percent(level.rate.population.rate)}" for level in one.levels)
    replay = f"; {one.replay.title}" if one.replay else ""
    return f"{one.label} at {levels}{replay}"


def _records(found: Sequence[Scaling]) -> list[tuple[Value, ...]]:
    rows: list[tuple[Value, ...]] = []
    for one in found:
        for level in one.levels:
            edges = level.rate.population.interval or (None, None)
            rows.append((one.label, one.axis, "rerun", level.budget, level.rate.population.rate, *edges))
        if one.replay:
            curve = one.replay.estimates
            kinds = {"ended by then": curve.lower}
            if one.replay.graded:
                kinds |= {"last snapshot": curve.graded, "any snapshot": curve.upper}
            for kind, values in kinds.items():
                for place, budget in enumerate(curve.budgets):
                    edges = curve.intervals[place] if kind == "last snapshot" else (None, None)
                    rows.append((one.label, one.axis, kind, budget, values[place], *edges))
    return rows


def _draw(canvas: Any, found: Sequence[Scaling], axis: Axis) -> None:
    columns = 2 if len(found) > 1 else 1
    rows = (len(found) + columns - 1) // columns
    panels = list(canvas.subplots(rows, columns, squeeze=False, sharey=True).flat)
    for axes, one in zip(panels, found, strict=False):
        _panel(axes, one)
        axes.set_xlabel(f"{axis} allowed", fontsize=8)
    for axes in panels[len(found) :]:
        axes.axis("off")


def _panel(axes: Any, one: Scaling) -> None:
    if one.replay:
        curve = one.replay.estimates
        lower = [100 * value for value in curve.lower]
        axes.plot(curve.budgets, lower, ":", color=colour(7), linewidth=1.2, label="replay: ended by then (lower)")
        if one.replay.graded:
            upper = [100 * value for value in curve.upper]
            axes.fill_between(curve.budgets, lower, upper, color=colour(5), alpha=0.3, label="replay: between bounds")
            graded = [100 * value for value in curve.graded]
            axes.plot(curve.budgets, graded, "-", color=colour(0), linewidth=1.4, label="replay: last snapshot")
            axes.plot(curve.budgets, upper, "-.", color=colour(7), linewidth=1, label="replay: any snapshot (upper)")
    if len(one.levels) > 1 or not one.replay:
        _levels(axes, one)
    if all(level.budget > 0 for level in one.levels):
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylim(-3, 103)
    said = "rerun at each level" if len(one.levels) > 1 else ""
    title = "; ".join(part for part in (said, one.replay.title if one.replay else "") if part)
    axes.set_title(f"{clean(one.label, 36)}\n{clean(title, 60)}", fontsize=8)
    axes.set_ylabel("percent passed", fontsize=8)
    axes.legend(fontsize=6, loc="best")


def _levels(axes: Any, one: Scaling) -> None:
    budgets = [level.budget for level in one.levels]
    rates = [100 * level.rate.population.rate for level in one.levels]
    for level, rate in zip(one.levels, rates, strict=True):
        if interval := level.rate.population.interval:
            axes.plot([level.budget] * 2, [100 * interval.low, 100 * interval.high], color=colour(1), linewidth=1.2)
        axes.plot([level.budget], [rate], marker(0), color=colour(1), markersize=6)
    axes.plot(budgets, rates, "--", color=colour(1), linewidth=1, marker=marker(0), label="rerun, 95% interval")
