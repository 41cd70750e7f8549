"""`mldevbench report`: the paper's tables from one or more studies."""

from __future__ import annotations

from typing import Annotated

import typer

from mldevbench.cli.output import Storage, note, print_table
from mldevbench.errors import UserError, unknown


def report(
    study: Annotated[list[str], typer.Argument(metavar="STUDY...", help="Names under --storage, folders or URLs.")],
    storage: Storage = "results",
    format_: Annotated[str | None, typer.Option("--format", help="md, csv, json or tex instead of tables.")] = None,
) -> None:
    """Print success by category and outcome by task."""
    from mldevbench.report import FORMATS, outcomes_by_task, render, success_by_category
    from mldevbench.store.study_store import find_study

    if format_ and format_ not in FORMATS:
        raise unknown("format", format_, FORMATS)
    rows = [row for name in study for row in find_study(name, storage).runs.all()]
    if not rows:
        raise UserError(f"{', '.join(study)}: no run has a result yet; 'mldevbench status' shows what is owed")
    if len({row.isolation for row in rows if row.isolation}) > 1:
        note("these runs had different sandboxes; their rates are not comparable")
    weak = " (weak sandbox: process)" if any(row.isolation == "process" for row in rows) else ""
    tables = [success_by_category(rows), outcomes_by_task(rows)]
    if format_:
        print(render(tables, format_), end="")
        return
    for table in tables:
        print_table(table.title + weak, table.columns, table.rows, table.note)
