"""The (k, b) surface: pass@k of runs stopped at budget b, an oracle choosing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mldevbench.axis import Axis
from mldevbench.report.figures.figure import Figure, clean, missing
from mldevbench.report.figures.scaling import Scaled
from mldevbench.report.table import Records
from mldevbench.report.wording import percent

if TYPE_CHECKING:
    from mldevbench.replaying import Replay

TITLE = "Attempts against budget"
Panel = tuple[str, "Replay"]


def surface(scaled: Scaled) -> Figure:
    axis, found = scaled
    panels: list[Panel] = [(one.label, one.replay) for one in found if one.replay and one.replay.graded]
    if not panels:
        return missing("surface", TITLE, "needs graded snapshots of long runs (--snapshot-every)")
    rows = [
        (label, k, budget, rate)
        for label, replay in panels
        for k, rates in zip(replay.attempts, replay.surface, strict=True)
        for budget, rate in zip(replay.estimates.budgets, rates, strict=True)
    ]
    alt = "; ".join(f"{label}: {_best(replay)}" for label, replay in panels)
    height = max(2.6, 1.6 + 0.45 * max(len(replay.attempts) for _, replay in panels))
    return Figure(
        "surface", f"{TITLE} ({axis})", f"{alt}.", Records(("label", "k", str(axis), "pass_at_k"), tuple(rows)),
        lambda canvas: _draw(canvas, panels, axis), (1.5 + 3.6 * len(panels), height),
    )  # fmt: skip


def _best(replay: Replay) -> str:
    k, rates = replay.attempts[-1], replay.surface[-1]
    return f"pass@{k} at the full budget {percent(rates[-1])}, pass@1 {percent(replay.surface[0][-1])}"


def _draw(canvas: Any, panels: Sequence[Panel], axis: Axis) -> None:
    drawn = canvas.subplots(1, len(panels), squeeze=False)[0]
    image: Any = None
    for axes, (label, replay) in zip(drawn, panels, strict=True):
        image = axes.imshow(replay.surface, cmap="cividis", vmin=0, vmax=1, aspect="auto", origin="lower")
        for y, rates in enumerate(replay.surface):
            for x, rate in enumerate(rates):
                box = {"facecolor": image.cmap(rate), "edgecolor": "none", "pad": 2}  # a line ends before the words
                ink = "white" if rate < 0.55 else "black"
                axes.text(x, y, percent(rate), ha="center", va="center", fontsize=7, color=ink, bbox=box)
        _same_totals(axes, replay)
        axes.set_xticks(range(len(replay.estimates.budgets)), [f"{one:.3g}" for one in replay.estimates.budgets])
        axes.set_yticks(range(len(replay.attempts)), [f"k = {k}" for k in replay.attempts])
        axes.set_xlabel(f"{axis} allowed; dotted: the same total")
        axes.set_title(f"{clean(label, 30)}\n{clean(replay.title, 50)}", fontsize=8)
    canvas.colorbar(image, ax=list(drawn), shrink=0.8).set_label("pass@k")


def _same_totals(axes: Any, replay: Replay) -> None:
    """Join the cells that cost the same: few long attempts, or many short ones."""
    budgets, attempts = replay.estimates.budgets, replay.attempts
    for ways in replay.iso.values():
        cells = sorted((budgets.index(way.budget), attempts.index(way.attempts)) for way in ways)
        for ink, line, width in (("black", "-", 1.6), ("white", ":", 1.2)):  # seen on dark cells and on light ones
            axes.plot(*zip(*cells, strict=True), color=ink, linestyle=line, linewidth=width, zorder=1.5)
