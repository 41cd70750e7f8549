"""A label's results as tables and as Parquet files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from mldevbench.records import AttemptRow, CheckRow, Outcome, RunRow
from mldevbench.schema import table_of
from mldevbench.store.study_store import StudyStore

RUN_COLUMNS = (
    "run_id", "task", "category", "seed", "instance", "outcome", "cause", "stop_reason", "score", "attempts", "steps",
    "total_tokens", "cost_usd", "wall_seconds", "working_seconds", "gpus", "gpu_seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


def rows_of_label(store: StudyStore, label: str) -> list[RunRow]:
    return [row for row in store.runs.all() if row.label == label]


def sheets(rows: Sequence[RunRow]) -> list[Sheet]:
    """Return every run, and success by category and by task."""
    runs = tuple(tuple(_cell(getattr(row, name)) for name in RUN_COLUMNS) for row in rows)
    return [
        Sheet("runs", RUN_COLUMNS, runs),
        _success("by_category", "category", rows, lambda row: row.category),
        _success("by_task", "task", rows, lambda row: row.task),
    ]


def _success(name: str, column: str, rows: Sequence[RunRow], key: Callable[[RunRow], str]) -> Sheet:
    groups: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    body = []
    for group, members in sorted(groups.items()):
        passed = sum(row.outcome is Outcome.PASSED for row in members)
        void = sum(row.outcome is Outcome.VOID for row in members)
        judged = len(members) - void
        body.append((group, passed, judged, void, passed / judged if judged else None))
    return Sheet(name, (column, "passed", "judged", "void", "success"), tuple(body))


def _cell(value: Any) -> Any:
    return str(value) if isinstance(value, str) else value  # an enumeration is a string to W&B


def write_parquet(store: StudyStore, rows: Sequence[RunRow], folder: Path) -> None:
    """Write a label's runs, attempts and checks, with the study's own schema."""
    ours = {row.run_id for row in rows}
    for name, kind, found in (
        ("runs", RunRow, rows),
        ("attempts", AttemptRow, [row for row in store.attempts.all() if row.run_id in ours]),
        ("checks", CheckRow, [row for row in store.checks.all() if row.run_id in ours]),
    ):
        pq.write_table(table_of(kind, found), folder / f"{name}.parquet")
