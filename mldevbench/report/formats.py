"""Tables as text: Markdown, CSV, JSON, LaTeX."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from mldevbench.report.tables import Table


def markdown(tables: Sequence[Table]) -> str:
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    lines = [f"## {table.title}", "", _row(table.columns), _row(["---"] * len(table.columns))]
    lines += [_row(row) for row in table.rows]
    return "\n".join([*lines, *(["", table.note] if table.note else []), ""])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def comma_separated(tables: Sequence[Table]) -> str:
    """One table after the other, each row led by its table's title."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for table in tables:
        writer.writerow(["table", *table.columns])
        writer.writerows([table.title, *row] for row in table.rows)
    return buffer.getvalue()


def as_json(tables: Sequence[Table]) -> str:
    return json.dumps([json_of(table) for table in tables], indent=2, ensure_ascii=False) + "\n"


def json_of(table: Table) -> dict[str, object]:
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return {"title": table.title, "rows": rows, "note": table.note}


def latex(tables: Sequence[Table]) -> str:
    return "\n".join(_latex(table) for table in tables)


def _latex(table: Table) -> str:
    lines = [r"\begin{tabular}{" + "l" * len(table.columns) + "}", r"\hline", _cells(table.columns), r"\hline"]
    lines += [_cells(row) for row in table.rows]
    return "\n".join([f"% {table.title}", *lines, r"\hline", r"\end{tabular}", ""])


def _cells(cells: Sequence[str]) -> str:
    special = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "✓": r"\checkmark", "✗": r"$\times$", "–": "--"}
    escaped = ["".join(special.get(character, character) for character in cell) for cell in cells]
    return " & ".join(escaped) + r" \\"


FORMATS = {"md": markdown, "csv": comma_separated, "json": as_json, "tex": latex}


def render(tables: Sequence[Table], format_name: str) -> str:
    return FORMATS[format_name](tables)
