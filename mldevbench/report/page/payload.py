"""What the page shows, as plain JSON values."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mldevbench.budget_key import budget_of
from mldevbench.records import AttemptRow, CheckRow, Outcome, RunRow
from mldevbench.report.evidence import Evidence
from mldevbench.report.figures import Figure, image_of
from mldevbench.report.methods import bibtex, methods
from mldevbench.report.provenance import provenance
from mldevbench.report.table import Table
from mldevbench.report.wording import dollars

LONGEST = 2_000  # characters of what a check expected or saw
MOST_NUMBERS = 400  # rows of numbers under a figure
PLAIN = (
    "run_id", "study", "label", "task", "category", "profile", "seed", "instance", "score", "steps", "attempts",
    "wall_seconds", "working_seconds", "wait_seconds", "queue_seconds", "validate_seconds", "gpu_seconds", "cost_usd",
    "spent_usd", "node", "isolation",
)  # fmt: skip
RUN_COLUMNS = (*PLAIN, "status", "why", "tokens", "budget", "started_at", "finished_at")
ATTEMPT_COLUMNS = (
    "attempt", "phase", "outcome", "cause", "stop_reason", "node", "steps", "cost_usd", "wall_seconds", "detail",
)  # fmt: skip


def run_values(row: RunRow) -> list[object]:
    why = row.cause or row.stop_reason
    moments = [moment.isoformat(timespec="seconds") for moment in (row.started_at, row.finished_at)]
    return [
        *(plain(getattr(row, name)) for name in PLAIN),
        str(row.outcome), str(why) if why else None, row.total_tokens, str(budget_of(row)), *moments,
    ]  # fmt: skip


def plain(value: Any) -> Any:
    """Return a value that JSON has; what isn't finite is null, digits beyond use are cut."""
    if isinstance(value, float):
        return round(float(value), 4) if math.isfinite(value) else None
    return value if value is None or isinstance(value, int) else str(value)


def study_values(evidence: Evidence, tables: Sequence[Table], live: bool = False) -> dict[str, object]:
    scope = evidence.scope
    return {
        "live": live,
        "title": f"mldevbench: {', '.join(scope.studies)}",
        "heading": scope.heading,
        "notes": scope.notes,
        "counts": counts(evidence),
        "tables": [table_values(table) for table in tables],
        "runs": {"columns": RUN_COLUMNS, "rows": [run_values(row) for row in evidence.rows]},
        "methods": methods(evidence),
        "provenance": provenance(evidence),
        "bibtex": bibtex(evidence),
    }


def counts(evidence: Evidence) -> list[tuple[str, str]]:
    rows, scope = evidence.rows, evidence.scope
    found = [("runs finished", f"{scope.finished:,} of {scope.planned:,}")]
    found += [(str(outcome), f"{sum(row.outcome is outcome for row in rows):,}") for outcome in Outcome]
    known = [row.spent_usd for row in rows if row.spent_usd is not None]
    found.append(("spent" if len(known) == len(rows) else "spent, where known", dollars(sum(known) if known else None)))
    gpu_hours = sum(row.spent_gpu_seconds for row in rows) / 3600
    return [*found, ("GPU-hours", f"{gpu_hours:.2f}")] if gpu_hours else found


def table_values(table: Table) -> dict[str, object]:
    return {
        "name": table.name, "title": table.title, "columns": table.columns, "rows": table.rows, "note": table.note,
    }  # fmt: skip


def figure_values(figure: Figure) -> dict[str, object]:
    found: dict[str, object] = {"name": figure.name, "title": figure.title, "alt": figure.alt, "absent": figure.absent}
    if figure.draw:
        found["image"] = "data:image/svg+xml;base64," + base64.b64encode(image_of(figure, "svg")).decode()
        if len(figure.data.rows) <= MOST_NUMBERS:
            rows = [[plain(value) for value in row] for row in figure.data.rows]
            found["numbers"] = {"columns": figure.data.columns, "rows": rows}
    return found


class Strings:
    """Texts by number, each kept once: what a check expects is the same in every seed."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, text: str) -> int:
        return self.places.setdefault(shortened(text), len(self.places))

    @property
    def listed(self) -> list[str]:
        return list(self.places)


def detail_values(evidence: Evidence, trajectories: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return checks and attempts of every run, and trajectories where they were asked for."""
    strings, runs = Strings(), {}
    for row in evidence.rows:
        checks = sorted(evidence.checks.get(row.run_id, ()), key=lambda check: check.position)
        found: dict[str, object] = {
            "checks": [
                (strings.place(one.name), int(one.passed), strings.place(one.expected), strings.place(one.seen))
                for one in checks
            ],
            "attempts": [attempt_values(one) for one in in_order(evidence.attempts.get(row.run_id, ()))],
        }
        if trajectories and row.run_id in trajectories:
            found["trajectory"] = trajectories[row.run_id]
        runs[row.run_id] = found
    return {"strings": strings.listed, "attempt_columns": ATTEMPT_COLUMNS, "runs": runs}


def in_order(attempts: Iterable[AttemptRow]) -> list[AttemptRow]:
    return sorted(attempts, key=lambda one: one.attempt)


def attempt_values(attempt: AttemptRow) -> list[object]:
    values = [plain(getattr(attempt, name)) for name in ATTEMPT_COLUMNS]
    return [shortened(value) if isinstance(value, str) else value for value in values]


def check_values(check: CheckRow) -> dict[str, object]:
    return {
        "name": shortened(check.name), "passed": check.passed, "expected": shortened(check.expected),
        "seen": shortened(check.seen),
    }  # fmt: skip


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST:,} characters more)"
