"""`report --html`: the page as one file that needs no server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mldevbench.errors import UserError
from mldevbench.report.evidence import Evidence
from mldevbench.report.figures import Figure
from mldevbench.report.page.building import Inside, html_page
from mldevbench.report.page.payload import detail_values, figure_values, study_values
from mldevbench.report.table import Table


def page_text(
    evidence: Evidence,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    trajectories: Mapping[str, object] | None = None,
) -> str:
    data = study_values(evidence, tables) | {"figures": [figure_values(figure) for figure in figures]}
    return html_page(Inside(str(data["title"]), data, detail_values(evidence, trajectories)), live=False)


def write_page(
    evidence: Evidence,
    path: Path,
    tables: Sequence[Table],
    figures: Sequence[Figure],
    trajectories: Mapping[str, object] | None = None,
) -> None:
    text = page_text(evidence, tables, figures, trajectories)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: can't be written ({error.strerror}); choose another file") from None
