"""The figures of a report, in order; what can't be drawn honestly says why instead."""

from __future__ import annotations

from mldevbench.report.evidence import Evidence
from mldevbench.report.figures.components import components
from mldevbench.report.figures.figure import Figure, image_of, write_figure
from mldevbench.report.figures.forest import forest
from mldevbench.report.figures.gantt import gantt
from mldevbench.report.figures.heat import heat
from mldevbench.report.figures.paired import paired
from mldevbench.report.figures.pareto import cost_and_success
from mldevbench.report.figures.repeats import repeats
from mldevbench.report.figures.scaling import scaled, scaling
from mldevbench.report.figures.surface import surface
from mldevbench.report.figures.time_use import time_use

__all__ = ["Figure", "all_figures", "figure_list", "image_of", "write_figure"]

MAKERS = (forest, heat, repeats, cost_and_success, paired, components, gantt, time_use)


def all_figures(evidence: Evidence) -> list[Figure]:
    """Return every figure, each with what it rests on in its title."""
    heading, budgets = evidence.scope.heading, scaled(evidence)
    found = [*(make(evidence) for make in MAKERS), scaling(budgets), surface(budgets)]
    return [figure.under(heading) for figure in found]


def figure_list(figures: list[Figure]) -> str:
    """Say in Markdown what each figure shows, or why it isn't there."""
    lines = ["# Figures", ""]
    for figure in figures:
        said = figure.alt if figure.draw else f"Not drawn: {figure.absent}."
        lines += [f"- **{figure.name}** {figure.title}. {said}"]
    return "\n".join(lines) + "\n"
