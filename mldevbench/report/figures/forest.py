"""Forest plot: every agent's rate by category and in all, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, marker, missing
from mldevbench.report.grouping import Group, groups_of
from mldevbench.report.naming import categories_in_order, category_name
from mldevbench.report.table import Records
from mldevbench.report.wording import bracket, percent

if TYPE_CHECKING:
    from mldevbench.rates import Rate

TITLE = "Success by agent and category"
Block = tuple[str, "list[Rate]"]


def forest(evidence: Evidence) -> Figure:
    from mldevbench.rates import rate_of

    groups = groups_of(evidence.rows)
    blocks: list[Block] = [("All tasks", [rate_of(group.name, group.rows) for group in groups])]
    for category in categories_in_order(evidence.rows):
        blocks.append((category_name(category), [_rate(group, category) for group in groups]))
    if not any(rate.judged for _, rates in blocks for rate in rates):
        return missing("forest", TITLE, "every run is void: there is no rate to draw")
    lines = sum(len(rates) for _, rates in blocks)
    return Figure(
        "forest", TITLE, _alt(blocks[0][1]), _records(blocks), lambda canvas: _draw(canvas, blocks),
        (7.5, 1.2 + 0.26 * lines + 0.2 * len(blocks)),
    )  # fmt: skip


def _rate(group: Group, category: str) -> Rate:
    from mldevbench.rates import rate_of

    return rate_of(group.name, [row for row in group.rows if row.category == category])


def _alt(rates: Sequence[Rate]) -> str:
    said = [
        f"{rate.label} {percent(rate.population.rate)} {bracket(rate.population.interval)}"
        for rate in rates
        if rate.judged
    ]
    return f"Rates of all tasks with 95% intervals: {'; '.join(said)}. Below them the same by category."


def _records(blocks: Sequence[Block]) -> Records:
    rows = [
        (name, rate.label, rate.passed, rate.judged, rate.void, rate.population.rate if rate.judged else None,
         *(rate.population.interval or (None, None)))
        for name, rates in blocks for rate in rates
    ]  # fmt: skip
    return Records(("category", "label", "passed", "judged", "void", "rate", "low", "high"), tuple(rows))


def _draw(canvas: Any, blocks: Sequence[Block]) -> None:
    axes = canvas.subplots()
    line, ticks, names = 0.0, [], []
    for name, rates in blocks:
        ticks.append(line)
        names.append(name)
        for place, rate in enumerate(rates):
            line += 1
            ticks.append(line)
            names.append(f"{clean(rate.label, 34)}  {_count(rate)}")
            _point(axes, rate, place, line)
        line += 0.8
        axes.axhline(line - 0.3, color="#cccccc", linewidth=0.6)
        line += 0.5
    axes.set_yticks(ticks, names)
    headings = {name for name, _ in blocks}
    for text in axes.get_yticklabels():
        text.set_fontweight("bold" if text.get_text() in headings else "normal")
    axes.invert_yaxis()
    axes.set_xlim(-3, 103)
    axes.set_xlabel(
        "percent of runs that passed; bars: 95% interval for tasks like these\n"
        "(hollow without a bar: one task can't tell)"
    )


def _count(rate: Rate) -> str:
    void = f", {rate.void} void" if rate.void else ""
    return f"{rate.passed}/{rate.judged}{void}"


def _point(axes: Any, rate: Rate, place: int, line: float) -> None:
    if not rate.judged:
        axes.text(1, line, "no judged run", va="center", fontsize=7, style="italic")
        return
    interval, value = rate.population.interval, 100 * rate.population.rate
    if interval:
        axes.plot([100 * interval.low, 100 * interval.high], [line, line], color=colour(place), linewidth=1.6)
    face = colour(place) if interval else "white"
    axes.plot([value], [line], marker(place), color=colour(place), markerfacecolor=face, markersize=6, clip_on=False)
