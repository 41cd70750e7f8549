"""What the page is told of a study that may still run: planned runs too, each with where it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mldevbench.budget_key import BudgetKey
from mldevbench.records import AttemptRow, Run, RunRow
from mldevbench.report.page.payload import RUN_COLUMNS, run_values

PHASES = {"started": "running", "submitted": "judging"}
STATUS = RUN_COLUMNS.index("status")


def listed_runs(
    planned: Sequence[Run], rows: Sequence[RunRow], attempts: Mapping[str, Sequence[AttemptRow]], running: bool
) -> list[list[object]]:
    """Return finished runs as they ended and planned ones as they stand."""
    found = {row.run_id: run_values(row) for row in rows}
    numbers = {row.run_id: row.attempts for row in rows}
    for run in planned:
        last = max(attempts.get(run.run_id, ()), key=lambda one: one.attempt, default=None)
        open_ = running and last is not None and last.phase in PHASES
        if run.run_id not in found:
            found[run.run_id] = _planned(run, last, PHASES[last.phase] if open_ and last else "owed")
        elif open_ and last and last.attempt > numbers[run.run_id]:  # a void that is tried again
            found[run.run_id][STATUS] = PHASES[last.phase]
    return list(found.values())


def _planned(run: Run, last: AttemptRow | None, status: str) -> list[object]:
    budget = run.budget
    known: dict[str, object] = {
        "run_id": run.run_id, "label": run.spec.label, "task": run.task, "category": run.category,
        "profile": run.profile, "seed": run.seed, "instance": run.instance, "status": status,
        "budget": str(BudgetKey(budget.steps, budget.minutes, budget.wall_minutes, budget.tokens, budget.usd)),
    }  # fmt: skip
    if last is not None:
        known |= {
            "attempts": last.attempt, "node": last.node, "started_at": last.started_at.isoformat(timespec="seconds"),
        }  # fmt: skip
    return [known.get(name) for name in RUN_COLUMNS]
