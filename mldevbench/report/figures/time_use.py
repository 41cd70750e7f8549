"""Where held time went: the agent's tools, the model's answers, waiting for the model, attempts that were lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mldevbench.records import Outcome, RunRow
from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, hatch, missing
from mldevbench.report.grouping import groups_of
from mldevbench.report.table import Records
from mldevbench.report.wording import duration

PARTS = ("tools at work (GPU busy at most so long)", "model answering", "waiting for the model", "lost attempts")


@dataclass(frozen=True)
class Use:
    name: str
    held: float
    parts: tuple[float, ...]


def time_use(evidence: Evidence) -> Figure:
    """Weigh time by GPUs; where no run held one, by runs."""
    on_gpus = any(row.spent_gpu_seconds for row in evidence.rows)
    title = "Where GPU time went" if on_gpus else "Where the runs' time went (no run held a GPU)"
    uses = [_use(group.name, group.rows, on_gpus) for group in groups_of(evidence.rows)]
    shown = [use for use in uses if use.held > 0]
    if not shown:
        return missing("time", title, "no time was measured")
    rows = [(use.name, use.held, *use.parts) for use in shown]
    columns = ("label", "held_seconds", "tools_seconds", "model_seconds", "wait_seconds", "lost_seconds")
    alt = "; ".join(
        f"{use.name} held {duration(use.held)}: "
        + ", ".join(f"{part.split(' (')[0]} {duration(value)}" for part, value in zip(PARTS, use.parts, strict=True))
        for use in shown
    )
    return Figure(
        "time", title, f"{alt}.", Records(columns, tuple(rows)), lambda canvas: _draw(canvas, shown, on_gpus),
        (7.5, 1.8 + 0.4 * len(shown)),
    )  # fmt: skip


def _use(name: str, rows: Sequence[RunRow], on_gpus: bool) -> Use:
    """Split what was held; what no clock measured counts as tools at work, which is why that part is an upper bound."""
    held = model = wait = lost = 0.0
    for row in rows:
        weight = row.gpus if on_gpus else 1.0
        whole = row.spent_gpu_seconds if on_gpus else row.wall_seconds
        own = 0.0 if row.outcome is Outcome.VOID else row.gpu_seconds if on_gpus else row.wall_seconds
        held += whole
        lost += max(0.0, whole - own)
        if own:
            model += min(weight * row.model_seconds, own)
            wait += min(weight * row.wait_seconds, max(0.0, own - weight * row.model_seconds))
    return Use(name, held, (max(0.0, held - lost - model - wait), model, wait, lost))


def _draw(canvas: Any, uses: Sequence[Use], on_gpus: bool) -> None:
    axes = canvas.subplots()
    for line, use in enumerate(uses):
        start = 0.0
        for place, value in enumerate(use.parts):
            axes.barh(
                line, value / 3600, left=start, color=colour((2, 5, 4, 1)[place]), hatch=hatch(place),
                edgecolor="white", height=0.7, label=PARTS[place] if line == 0 else None,
            )  # fmt: skip
            start += value / 3600
        axes.text(start, line, f" {duration(use.held)} held", va="center", fontsize=7)
    axes.set_yticks(range(len(uses)), [clean(use.name, 34) for use in uses])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25 * max(use.held for use in uses) / 3600)
    axes.set_xlabel("GPU-hours held" if on_gpus else "hours held by runs")
    canvas.legend(fontsize=7, ncol=2, loc="outside lower center")
