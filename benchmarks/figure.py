"""One measured figure, and how figures are written down."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
README = PAGE.parent.parent / "README.md"
FILE = Path(__file__).resolve().parent / "figures.json"
BEGIN, END = "<!-- written by make bench -->", "<!-- end of what make bench wrote -->"
SHOWN = {  # in the README, by name
    "mldevbench, bubblewrap, 8 at once": "overhead of a run, isolated by bubblewrap, 8 at once",
    "Inspect AI, local sandbox, 8 at once": "the same in Inspect AI 0.3.285, which isolates nothing there",
    "warm against fresh": "a checkpoint judged by a warm actor, against a fresh process: times as fast",
    "committing run 10,000 against run 100": "committing run 10,000, against run 100",
    "durations learned: bound / makespan, median of 40 draws": "best possible makespan over ours, learning on the way",
}


@dataclass(frozen=True)
class Figure:
    """What was measured; `target` is what we want of it, `met` whether it holds, None where nothing is asked."""

    group: str
    name: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None

    @property
    def shown(self) -> str:
        digits = 0 if abs(self.value) >= 100 else 1 if abs(self.value) >= 10 else 3
        return f"{self.value:,.{digits}f} {self.unit}".rstrip()


Measure = Callable[[], Iterable[Figure]]


def write(figures: list[Figure]) -> None:
    """Write the figures as JSON, and the page that the documents include."""
    about = {"python": platform.python_version(), "cores": os.cpu_count(), "machine": platform.machine()}
    FILE.write_text(json.dumps({"about": about, "figures": [asdict(one) for one in figures]}, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(figures, about), "utf-8")
    README.write_text(with_block(README.read_text("utf-8"), figures), "utf-8")


def read() -> tuple[list[Figure], dict[str, object]]:
    kept = json.loads(FILE.read_text("utf-8"))
    return [Figure(**one) for one in kept["figures"]], kept["about"]


def with_block(text: str, figures: list[Figure]) -> str:
    """Return the README with the figures that it shows put in their place."""
    known = {one.name: one for one in figures}
    rows = [f"| {words} | {known[name].shown} |" for name, words in SHOWN.items() if name in known]
    return between(text, BEGIN, END, ["| measured in one run | |", "|---|---|", *rows])


def between(text: str, begin: str, end: str, lines: list[str]) -> str:
    """Return a text with lines of ours put between two marks in it."""
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return "\n".join([before + begin, "", *lines, "", end + after])


def page(figures: list[Figure], about: dict[str, object]) -> str:
    lines = [
        "# Benchmarks",
        "",
        f"Written by `make bench` on {about['cores']} cores, Python {about['python']}. Figures are measured in one run",
        "on one machine: compare within a table, not across machines.",
    ]
    for group in dict.fromkeys(one.group for one in figures):
        lines += ["", f"## {group}", "", "| what | measured | target | met |", "|---|---|---|---|"]
        for one in (one for one in figures if one.group == group):
            met = "" if one.met is None else "yes" if one.met else "**no**"
            lines.append(f"| {one.name} | {one.shown} | {one.target} | {met} |")
    return "\n".join(lines) + "\n"
