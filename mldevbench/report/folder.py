"""`report --out`: everything of a report in one folder, ready to be published."""

from __future__ import annotations

from pathlib import Path

from mldevbench.errors import UserError
from mldevbench.report.contents import all_tables
from mldevbench.report.evidence import Evidence
from mldevbench.report.figures import all_figures, figure_list, write_figure
from mldevbench.report.formats import records_csv, render
from mldevbench.report.methods import bibtex, methods, methods_latex
from mldevbench.report.page import write_page
from mldevbench.report.provenance import provenance
from mldevbench.report.table import Table

FILES = {"md": "md", "csv": "csv", "json": "json", "tex": "tex", "plain": "txt"}


def write_folder(evidence: Evidence, folder: Path) -> list[Path]:
    """Write tables, figures, the page and the words beside them; return the files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {folder}: can't be made ({error.strerror}); choose another folder") from None
    tables = all_tables(evidence)
    figures = all_figures(evidence)
    texts = _texts(evidence, tables) | {"figures.md": figure_list(figures)}
    written = []
    for name, text in texts.items():
        written.append(folder / name)
        written[-1].write_text(text, encoding="utf-8")
    for figure in figures:
        written += write_figure(figure, folder / "figures")
    written.append(folder / "report.html")
    write_page(evidence, written[-1], tables=tables, figures=figures)
    return written


def _texts(evidence: Evidence, tables: list[Table]) -> dict[str, str]:
    texts = {f"tables.{ending}": render(tables, name) for name, ending in FILES.items()}
    texts |= {f"{table.name}.csv": records_csv(table.records) for table in tables if table.records.columns}
    return texts | {
        "methods.md": methods(evidence) + "\n",
        "methods.tex": methods_latex(evidence),
        "references.bib": bibtex(evidence),
        "provenance.json": provenance(evidence),
    }
