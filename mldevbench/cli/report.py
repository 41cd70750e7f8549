"""`mldevbench report`: tables, figures and pages from one or more studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.completion import studies
from mldevbench.cli.output import Storage, note, print_table
from mldevbench.errors import UserError, unknown

if TYPE_CHECKING:
    from mldevbench.report.evidence import Evidence


def report(
    study: Annotated[
        list[str],
        typer.Argument(metavar="STUDY", help="Names under --storage, folders, URLs, or paper.", autocompletion=studies),
    ],
    storage: Storage = "results",
    format_: Annotated[
        str | None, typer.Option("--format", help="md, csv, json, tex or plain instead of tables.")
    ] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write one page that opens offline.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write everything into this folder.")] = None,
    partial: Annotated[bool, typer.Option("--partial", help="Count seeds that are not complete yet.")] = False,
    trajectories: Annotated[bool, typer.Option("--trajectories", help="Put trajectories into the page.")] = False,
    full: Annotated[bool, typer.Option("--full", help="All tables on the terminal.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Words instead of tables, one line each.")] = False,
) -> None:
    """Show success by category, outcome by task and cost, with intervals; or write figures, pages, everything.

    Examples:

      mldevbench report my-study --html report.html

      mldevbench report paper --format tex
    """
    from mldevbench.report import FORMATS
    from mldevbench.report.evidence import read_evidence

    if format_ and format_ not in FORMATS:
        raise unknown("format", format_, FORMATS)
    if trajectories and not html:
        raise UserError("--trajectories goes into a page; name it with --html FILE")
    evidence = read_evidence(study, storage, partial)
    for line in evidence.scope.notes:
        note(line)
    if html:
        _write_html(evidence, html, storage, trajectories)
    if out:
        from mldevbench.report.folder import write_folder

        note(f"{len(write_folder(evidence, out))} files in {out}/: open {out / 'report.html'}")
    if format_ or not (html or out):
        _print(evidence, "plain" if plain and not format_ else format_, full)


def _write_html(evidence: Evidence, path: Path, storage: str, trajectories: bool) -> None:
    from mldevbench.report.contents import all_tables
    from mldevbench.report.figures import all_figures
    from mldevbench.report.page import write_page
    from mldevbench.report.reading import read_trajectories

    kept = read_trajectories(evidence, storage) if trajectories else None
    write_page(evidence, path, all_tables(evidence), all_figures(evidence), kept)
    note(f"{path}: {path.stat().st_size / 1e6:.1f} MB, opens in any browser")


def _print(evidence: Evidence, format_: str | None, full: bool) -> None:
    from mldevbench.report import render
    from mldevbench.report.contents import all_tables, main_tables

    tables = all_tables(evidence) if full or format_ else main_tables(evidence)
    if format_:
        print(render(tables, format_), end="")
        return
    for table in tables:
        print_table(table.title, table.columns, table.rows, table.note)
