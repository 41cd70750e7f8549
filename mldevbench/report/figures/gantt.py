"""Gantt chart of the cluster: lanes by node, phases, retries, losses, and how much of the time was used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.figure import Figure, clean, colour, hatch, missing
from mldevbench.report.figures.lanes import Node, Span, nodes_of
from mldevbench.report.table import Records
from mldevbench.report.wording import counted, duration, percent

TITLE = "Who ran where and when"
KINDS = ("first attempt", "retry", "lost", "validation")
MANY = 400  # bars; beyond, they are drawn as one image


def gantt(evidence: Evidence) -> Figure:
    nodes = nodes_of(evidence)
    if not nodes:
        return missing("gantt", TITLE, "no attempt has a node and an end")
    spans = [span for node in nodes for span in node.spans]
    columns = (
        "node",
        "lane",
        "run_id",
        "label",
        "task",
        "attempt",
        "phase",
        "start",
        "end",
        "judged",
        "queued",
        "gpus",
    )
    rows = [
        (s.node, s.lane, s.run_id, s.label, s.task, s.attempt, s.phase, s.start, s.end, s.judged, s.queued, s.gpus)
        for s in spans
    ]
    lanes = sum(node.lanes for node in nodes)
    return Figure(
        "gantt", TITLE, _alt(nodes), Records(columns, tuple(rows)), lambda canvas: _draw(canvas, nodes),
        (8.5, 1.8 + min(14.0, 0.16 * lanes + 0.3 * len(nodes))),
    )  # fmt: skip


def _alt(nodes: Sequence[Node]) -> str:
    said = [
        f"{node.name}: {counted(len(node.spans), 'attempt')} in {counted(node.lanes, 'lane')}, "
        f"{percent(node.busy)} held"
        for node in nodes[:12]
    ]
    lost = sum(span.phase == "lost" for node in nodes for span in node.spans)
    return f"{'; '.join(said)}. {counted(lost, 'attempt')} lost."


def kind(span: Span) -> str:
    if span.phase == "lost":
        return "lost"
    return "retry" if span.attempt > 1 else "first attempt"


def _draw(canvas: Any, nodes: Sequence[Node]) -> None:
    axes = canvas.subplots()
    unit, scale = _unit(max(span.judged for node in nodes for span in node.spans))
    many = sum(len(node.spans) for node in nodes) > MANY
    base, ticks, names = 0, [], []
    seen: set[str] = set()
    for node in nodes:
        for place, one in enumerate(KINDS):
            bars = [span for span in node.spans if one == "validation" or kind(span) == one]
            drawn = _bars(axes, bars, base, scale, one, place, many, label=one not in seen)
            seen |= {one} if drawn else set()
        ticks.append(base + node.lanes / 2)
        gpus = sum(span.gpus * (span.end - span.start) for span in node.spans)
        used = f"{percent(node.busy)} held" + (f", {duration(gpus)} of GPUs" if gpus else "")
        names.append(f"{clean(node.name, 28)}\n{used}")
        base += node.lanes
        axes.axhline(base, color="#bbbbbb", linewidth=0.6)
        base += 1
    axes.set_yticks(ticks, names, fontsize=7)
    axes.set_ylim(base - 0.5, -0.5)
    axes.set_xlim(0, 1.02 * max(span.judged for node in nodes for span in node.spans) / scale or 1)
    axes.set_xlabel(f"{unit} since the first attempt; a lane is one run at a time (which GPU it had is not recorded)")
    axes.legend(
        fontsize=7, ncol=4, loc="upper center", bbox_to_anchor=(0.5, 1.0 + 0.6 / max(2, canvas.get_figheight()))
    )


def _bars(
    axes: Any, spans: Sequence[Span], base: int, scale: float, one: str, place: int, many: bool, label: bool
) -> bool:
    """Draw all bars of a kind as one collection: ten thousand rectangles of their own would take minutes."""
    import numpy as np
    from matplotlib.collections import PolyCollection

    if one == "validation":
        spans = [span for span in spans if span.judged > span.end]
    if not spans:
        return False
    bars: Any = np.array([_corners(span, base, scale, one) for span in spans])
    axes.add_collection(
        PolyCollection(
            bars, facecolors=colour((0, 4, 1, 2)[place]), hatch="" if many else hatch(place), linewidths=0.3,
            edgecolors="none" if many else "white", label=one if label else None, rasterized=many,
        )
    )  # fmt: skip
    return True


def _corners(span: Span, base: int, scale: float, one: str) -> list[tuple[float, float]]:
    start, end = (span.end, span.judged) if one == "validation" else (span.start, span.end)
    half, middle = (0.18 if one == "validation" else 0.4), base + span.lane + 0.4
    left, right, top, bottom = start / scale, end / scale, middle - half, middle + half
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _unit(seconds: float) -> tuple[str, float]:
    if seconds < 300:
        return "seconds", 1.0
    return ("minutes", 60.0) if seconds < 18_000 else ("hours", 3600.0)
