"""Cost against success, with the agents that no other beats in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, marker, missing
from mldevbench.report.grouping import Group, groups_of
from mldevbench.report.measure import Measure, mean_of
from mldevbench.report.table import Records
from mldevbench.report.wording import dollars, listed, percent

if TYPE_CHECKING:
    from mldevbench.rates import Rate

TITLE = "Cost against success"
DRAWS = 500


@dataclass(frozen=True)
class Point:
    name: str
    usd: float
    rate: Rate
    front: bool = False
    drawn_again: float | None = None  # how often it is on the front when tasks are drawn again


def cost_and_success(evidence: Evidence) -> Figure:
    from mldevbench.rates import judged, rate_of
    from mldevbench.stats.cost import pareto

    found, silent, groups = [], [], []
    for group in groups_of(judged(evidence.rows)):
        usd = _mean_usd(group)
        if usd is None:
            silent.append(group.name)
        else:
            groups.append(group)
            found.append(Point(group.name, usd, rate_of(group.name, group.rows)))
    if not found:
        return missing("pareto", TITLE, "no agent's cost is known on all of its judged runs")
    front = set(pareto([(point.usd, point.rate.population.rate) for point in found]))
    shares = _membership(groups)
    points = [replace(point, front=place in front, drawn_again=shares[place]) for place, point in enumerate(found)]
    rows = [
        (p.name, p.usd, p.rate.population.rate, *(p.rate.population.interval or (None, None)), p.front, p.drawn_again)
        for p in points
    ]
    alt = "; ".join(f"{p.name} {dollars(p.usd)} a run, {percent(p.rate.population.rate)}" for p in points)
    alt += f". On the front: {listed([_named(p) for p in points if p.front], 12)}."
    alt += f" Cost unknown: {listed(silent, 12)}." if silent else ""
    columns = ("label", "usd_per_run", "rate", "low", "high", "on_front", "on_front_when_drawn_again")
    return Figure(
        "pareto", TITLE, alt, Records(columns, tuple(rows)), lambda canvas: _draw(canvas, points, silent), (7.0, 4.2)
    )


def _mean_usd(group: Group) -> float | None:
    """Return the mean over tasks of what a run cost; None as soon as one run's cost is unknown."""
    means = [mean_of(runs, Measure.USD) for runs in group.by_task.values()]
    known = [mean.value for mean in means if mean.value is not None]
    # Tasks without any cost, as one of the paper's, are left out; a task of which half is known would bend the mean.
    if not known or any(0 < mean.known < mean.total for mean in means):
        return None
    return sum(known) / len(known)


def _membership(groups: Sequence[Group]) -> list[float | None]:
    """Return how often each is on the front when tasks are drawn again; None where they share fewer than two."""
    from mldevbench.rates import task_means
    from mldevbench.stats.cost import pareto_membership

    costs = [_task_usd(group) for group in groups]
    tasks = sorted(set.intersection(*(set(one) for one in costs)))
    if len(tasks) < 2 or len(groups) < 2:
        return [None] * len(groups)
    means = [task_means(group.rows) for group in groups]
    usd, success = ([[one[task] for task in tasks] for one in side] for side in (costs, means))
    return [*pareto_membership(usd, success, DRAWS)]


def _task_usd(group: Group) -> dict[str, float]:
    means = {task: mean_of(runs, Measure.USD).value for task, runs in group.by_task.items()}
    return {task: usd for task, usd in means.items() if usd is not None}


def _named(point: Point) -> str:
    again = "" if point.drawn_again is None else f" (in {percent(point.drawn_again)} of redraws of the tasks)"
    return f"{point.name}{again}"


def _draw(canvas: Any, points: Sequence[Point], silent: Sequence[str]) -> None:
    axes = canvas.subplots()
    line = sorted((p.usd, 100 * p.rate.population.rate) for p in points if p.front)
    axes.step(*zip(*line, strict=True), where="post", color="#999999", linewidth=1, linestyle=":", label="front")
    for place, point in enumerate(points):
        value, interval = 100 * point.rate.population.rate, point.rate.population.interval
        if interval:
            axes.plot([point.usd] * 2, [100 * interval.low, 100 * interval.high], color=colour(place), linewidth=1.2)
        axes.plot(
            [point.usd], [value], marker(place), color=colour(place), markersize=8, clip_on=False,
            markerfacecolor=colour(place) if point.front else "white",
            label=f"{clean(point.name, 32)}{_standing(point)}",
        )  # fmt: skip
    axes.set_ylim(-3, 103)
    axes.set_xlim(left=0, right=max(point.usd for point in points) * 1.15 or 1)
    axes.set_xlabel("dollars a run, mean over tasks" + (f"; unknown: {listed(list(silent), 3)}" if silent else ""))
    axes.set_ylabel("percent passed, 95% interval")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _standing(point: Point) -> str:
    """Say whether it is on the front, and how often it would be."""
    said = ["front"] if point.front else []
    said += [f"{percent(point.drawn_again)} of redraws"] if point.drawn_again is not None else []
    return f" ({', '.join(said)})" if said else ""
