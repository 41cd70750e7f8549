"""How the command line speaks: tables for people, JSON for scripts, notes on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from mldevbench.cli.completion import studies

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Storage = Annotated[
    str, typer.Option("--storage", envvar="MLDEVBENCH_STORAGE", help="Folder or URL that holds the studies.")
]
StudyName = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="A study's name under --storage, or its folder or URL.", autocompletion=studies
    ),
]
StudyOrFile = Annotated[
    str,
    typer.Argument(
        metavar="STUDY",
        help="A study's name, or a study file to run. It comes before all options.",
        autocompletion=studies,
    ),
]
Root = Annotated[
    list[str], typer.Option("--root", envvar="MLDEVBENCH_ROOT", help="A further folder with tasks/ and agents/.")
]


def note(text: str) -> None:
    """Say something beside the result."""
    print(text, file=sys.stderr, flush=True)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], note_text: str = "") -> None:
    """Print a table as wide as its content needs; a pipe gets all of it."""
    from rich.console import Console
    from rich.table import Table

    from mldevbench.report.visible import visible

    table = Table(pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(visible(cell).replace("[", r"\[") for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 200, soft_wrap=False)
    if title:
        console.print(title, style="bold", markup=False, highlight=False)
    console.print(table)
    if note_text:
        console.print(note_text, markup=False, highlight=False)


def seconds_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def usd_text(usd: float | None) -> str:
    return "unknown" if usd is None else f"${usd:.2f}"
