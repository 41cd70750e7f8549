"""One measured figure, and how figures are written down."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
FILE = Path(__file__).resolve().parent / "figures.json"


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
