"""A figure: the numbers it is drawn from, what it says in words, and how it is drawn."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mldevbench.report.formats import records_csv
from mldevbench.report.table import Records
from mldevbench.report.visible import visible

# Told apart by people with any colour vision (Okabe and Ito), and by marker and hatch in print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "ooo", "+++", "---")
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "mldevbench",
    "text.parse_math": False,  # a label may hold a dollar sign
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titley": 1.0,  # looking for a better place takes a third of the layout's time, and there is none
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Figure:
    """Drawn by `draw` on a matplotlib figure; one that can't be drawn honestly says why in `absent`."""

    name: str
    title: str
    alt: str = ""
    data: Records = field(default_factory=Records)
    draw: Callable[[Any], None] | None = None
    size: tuple[float, float] = (7.0, 4.0)
    absent: str = ""
    drawn: dict[str, bytes] = field(default_factory=dict, compare=False)  # images by kind, each made once

    def under(self, heading: str) -> Figure:
        return replace(self, title=f"{self.title} ({heading})")


def missing(name: str, title: str, reason: str) -> Figure:
    return Figure(name, title, absent=reason)


def image_of(figure: Figure, kind: str) -> bytes:
    """Return the figure as svg or png."""
    import matplotlib
    from matplotlib.backends import backend_agg, backend_svg
    from matplotlib.figure import Figure as Canvas

    assert figure.draw is not None
    if kind in figure.drawn:
        return figure.drawn[kind]
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name may hold signs that the font lacks, or be wider than the figure
        canvas = Canvas(figsize=figure.size, dpi=150, layout="constrained")
        (backend_svg.FigureCanvasSVG if kind == "svg" else backend_agg.FigureCanvasAgg)(canvas)
        figure.draw(canvas)
        canvas.suptitle(wrapped(visible(figure.title), figure.size[0]), fontsize=10)
        lay_out(canvas)
        metadata = {"Date": None, "Title": visible(figure.title), "Description": visible(figure.alt)}
        canvas.savefig(buffer, format=kind, metadata=metadata if kind == "svg" else None)
    figure.drawn[kind] = buffer.getvalue()
    return figure.drawn[kind]


def lay_out(canvas: Any) -> None:
    """Place everything once and for all: saving a figure that has a layout engine draws it twice."""
    canvas.get_layout_engine().execute(canvas)
    canvas.set_layout_engine(None)


def wrapped(text: str, inches: float) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text, max(30, int(inches * 13.5))))


def write_figure(figure: Figure, folder: Path) -> list[Path]:
    """Write svg, png and the numbers; nothing for one that isn't drawn."""
    if figure.draw is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{figure.name}.{ending}" for ending in ("svg", "png", "csv")]
    paths[0].write_bytes(image_of(figure, "svg"))
    paths[1].write_bytes(image_of(figure, "png"))
    paths[2].write_text(records_csv(figure.data), encoding="utf-8")
    return paths


def colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def marker(place: int) -> str:
    return MARKERS[place % len(MARKERS)]


def hatch(place: int) -> str:
    return HATCHES[place % len(HATCHES)]


def clean(text: str, most: int = 44) -> str:
    """Return a name that can't break a figure: one line, nothing that acts, not too long."""
    said = visible(text).replace("\n", " ")
    return said if len(said) <= most else said[: most - 1] + "…"
