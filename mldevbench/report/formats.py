"""Tables as text: Markdown, CSV, JSON, LaTeX, and plain words for pipes and screen readers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence

from mldevbench.report.latex import latex
from mldevbench.report.table import Records, Table
from mldevbench.report.visible import visible


def markdown(tables: Sequence[Table]) -> str:
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: Table) -> str:
    lines = [f"## {_safe(table.title)}", "", _row(table.columns), _row(["---"] * len(table.columns))]
    lines += [_row(row) for row in table.rows]
    return "\n".join([*lines, *(["", _safe(table.note)] if table.note else []), ""])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_safe(cell).replace("|", "\\|") for cell in cells) + " |"


def _safe(text: str) -> str:
    """Keep names that are markup from acting as such where Markdown is shown."""
    return visible(text).replace("\n", " ").replace("<", "&lt;").replace("\\", "\\\\")


def comma_separated(tables: Sequence[Table]) -> str:
    """One table after the other, each row led by its table's title."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for table in tables:
        writer.writerow(["table", *table.columns])
        writer.writerows([table.title, *map(visible, row)] for row in table.rows)
    return buffer.getvalue()


def records_csv(records: Records) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(records.columns)
    writer.writerows(records.rows)
    return buffer.getvalue()


def as_json(tables: Sequence[Table]) -> str:
    return json.dumps([json_of(table) for table in tables], indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def json_of(table: Table) -> dict[str, object]:
    found: dict[str, object] = {"title": table.title, "name": table.name, "columns": table.columns}
    found["rows"] = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    found["note"] = table.note
    if table.records.columns:
        found["records"] = [dict(zip(table.records.columns, row, strict=True)) for row in table.records.rows]
    return found


def plain(tables: Sequence[Table]) -> str:
    """One line for each row, every cell with its column's name: for a screen reader or a search."""
    lines: list[str] = []
    for table in tables:
        lines.append(visible(table.title))
        for row in table.rows:
            cells = (f"{column} {cell}" for column, cell in zip(table.columns[1:], row[1:], strict=True))
            lines.append(f"{visible(row[0])}: {visible(', '.join(cells))}")
        lines += [visible(table.note), ""] if table.note else [""]
    return "\n".join(lines)


FORMATS: dict[str, Callable[[Sequence[Table]], str]] = {
    "md": markdown, "csv": comma_separated, "json": as_json, "tex": latex, "plain": plain,
}  # fmt: skip


def render(tables: Sequence[Table], format_name: str) -> str:
    return FORMATS[format_name](tables)
