"""pass@k and pass^k: what more attempts give if one may choose, and how far an agent can be relied on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, marker, missing
from mldevbench.report.grouping import groups_of
from mldevbench.report.table import Records
from mldevbench.report.wording import percent

if TYPE_CHECKING:
    from mldevbench.variance import Attempts

TITLE = "pass@k and pass^k"
Curve = tuple[str, "tuple[Attempts, ...]"]


def repeats(evidence: Evidence) -> Figure:
    from mldevbench.rates import panel_of
    from mldevbench.variance import attempts

    curves: list[Curve] = [(group.name, attempts(panel_of(group.rows))) for group in groups_of(evidence.rows)]
    curves = [curve for curve in curves if len(curve[1]) > 1]
    if not curves:
        return missing("attempts", TITLE, "needs four judged runs of a task: k goes to half of the runs at hand")
    alt = "; ".join(
        f"{name}: one of {points[-1].k} passes {percent(points[-1].at_least_one)}, all {percent(points[-1].all)}"
        for name, points in curves
    )
    rows = [
        (name, one.k, one.at_least_one, *one.at_least_one_interval, one.all, *one.all_interval)
        for name, points in curves
        for one in points
    ]
    columns = ("label", "k", "pass_at_k", "at_low", "at_high", "pass_all_k", "all_low", "all_high")
    return Figure("attempts", TITLE, f"{alt}.", Records(columns, tuple(rows)), lambda canvas: _draw(canvas, curves))


def _draw(canvas: Any, curves: Sequence[Curve]) -> None:
    axes = canvas.subplots()
    for place, (name, points) in enumerate(curves):
        ks = [one.k + 0.04 * (place - len(curves) / 2) for one in points]
        for values, bounds, line, said in (
            ([one.at_least_one for one in points], [one.at_least_one_interval for one in points], "-", "pass@k"),
            ([one.all for one in points], [one.all_interval for one in points], "--", "pass^k"),
        ):
            errors = [
                [max(0.0, 100 * (value - bound.low)) for value, bound in zip(values, bounds, strict=True)],
                [max(0.0, 100 * (bound.high - value)) for value, bound in zip(values, bounds, strict=True)],
            ]
            axes.errorbar(
                ks, [100 * value for value in values], yerr=errors, linestyle=line, color=colour(place),
                marker=marker(place), markersize=5, capsize=2, linewidth=1.4, label=f"{clean(name, 30)} {said}",
            )  # fmt: skip
    axes.set_xticks(sorted({one.k for _, points in curves for one in points}))
    axes.set_ylim(-3, 103)
    axes.set_xlabel("k runs of a task")
    axes.set_ylabel("percent of tasks, 95% intervals")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
