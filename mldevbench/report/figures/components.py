"""Variance components: how much of the spread of single verdicts lies in tasks, instances, seeds, validators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, hatch, missing
from mldevbench.report.grouping import groups_of
from mldevbench.report.table import Records
from mldevbench.report.wording import percent

if TYPE_CHECKING:
    from mldevbench.variance import Component

TITLE = "Where the variance comes from"
Bar = tuple[str, "tuple[Component, ...]"]


def components(evidence: Evidence) -> Figure:
    from mldevbench.rates import by_task, judged
    from mldevbench.variance import repeated_verdicts, split

    regrades = repeated_verdicts(evidence.regrades)
    bars: list[Bar] = [(group.name, split(by_task(judged(group.rows)), regrades)) for group in groups_of(evidence.rows)]
    shown = [bar for bar in bars if any(part.variance is not None for part in bar[1])]
    if not shown:
        return missing("variance", TITLE, "nothing was repeated: it takes two tasks, or two runs of one")
    rows = [(name, part.level, part.variance, part.share) for name, parts in bars for part in parts]
    alt = "; ".join(f"{name}: {', '.join(map(_said, parts))}" for name, parts in shown)
    return Figure(
        "variance", TITLE, f"{alt}.", Records(("label", "level", "variance", "share"), tuple(rows)),
        lambda canvas: _draw(canvas, shown), (7.5, 1.9 + 0.4 * len(shown)),
    )  # fmt: skip


def _said(part: Component) -> str:
    return f"{part.level} not repeated" if part.variance is None else f"{part.level} {percent(part.share)}"


def _draw(canvas: Any, bars: Sequence[Bar]) -> None:
    axes = canvas.subplots()
    for line, (_, parts) in enumerate(bars):
        start = 0.0
        for place, part in enumerate(parts):
            width = part.variance or 0.0
            axes.barh(
                line, width, left=start, color=colour(place), hatch=hatch(place), edgecolor="white", height=0.7,
                label=part.level if line == 0 else None,
            )  # fmt: skip
            start += width
        silent = [part.level for part in parts if part.variance is None]
        said = f" not repeated: {', '.join(silent)}" if silent else ""
        axes.text(start, line, said or (" no spread" if not start else ""), va="center", fontsize=7)
    axes.set_yticks(range(len(bars)), [clean(name, 34) for name, _ in bars])
    axes.invert_yaxis()
    axes.set_xlim(0, max(0.01, 1.6 * max(sum(part.variance or 0.0 for part in parts) for _, parts in bars)))
    axes.set_xlabel("variance of a single verdict, as estimated (that of yes and no is at most 0.25)")
    canvas.legend(fontsize=7, ncol=4, loc="outside lower center")
