"""`mldevbench show`: one run on the terminal."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.output import Json, Storage, StudyName, print_json, print_table, usd_text
from mldevbench.errors import UserError, unknown

if TYPE_CHECKING:
    from mldevbench.records import RunRow
    from mldevbench.store.study_store import StudyStore


def show(
    study: StudyName,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its first digits.")],
    storage: Storage = "results",
    checks: Annotated[bool, typer.Option("--checks", help="Only what was verified.")] = False,
    trajectory: Annotated[bool, typer.Option("--trajectory", help="Only what the agent did.")] = False,
    json_: Json = False,
) -> None:
    """Show one run: its outcome, what was verified, what the agent did."""
    from mldevbench.store.study_store import find_study

    store = find_study(study, storage)
    row = _find(store, run)
    found = [check for check in store.checks.rows(store.part_of(row.run_id)) if check.run_id == row.run_id]
    steps = _steps(store, row) if trajectory or json_ else []
    if json_:
        print_json({**asdict(row), "checks": [asdict(check) for check in found], "trajectory": steps})
        return
    if not checks and not trajectory:
        _print_row(row)
    if not trajectory:
        print_table(
            "Checks",
            ("", "check", "expected", "seen"),
            [("✓" if check.passed else "✗", check.name, check.expected, check.seen) for check in found],
        )
    for step in steps:
        print(f"--- step {step['number']} {step['role']} {step['tool'] or ''}".rstrip())
        print(step["arguments"] or "", step["text"], sep="\n" if step["arguments"] else "")


def _find(store: StudyStore, run: str) -> RunRow:
    rows = store.open()
    matching = [row for run_id, row in rows.items() if run_id.startswith(run)]
    if len(matching) > 1:
        raise UserError(f"run {run!r} fits {len(matching)} runs; give more of its digits")
    if not matching:
        raise unknown("run", run, rows)
    return matching[0]


def _print_row(row: RunRow) -> None:
    print(
        f"run {row.run_id}: {row.outcome}"
        + (f" ({row.cause or row.stop_reason})" if row.stop_reason or row.cause else "")
    )
    print(f"  {row.label} on {row.task} ({row.category}, {row.profile}), seed {row.seed}, instance {row.instance}")
    print(f"  {row.steps} steps, {row.total_tokens} tokens, {usd_text(row.cost_usd)}, {row.wall_seconds:.1f} s")
    print(
        f"  attempts {row.attempts}, sandbox {row.isolation}, node {row.node}, judged in {row.validate_seconds:.1f} s"
    )


def _steps(store: StudyStore, row: RunRow) -> list[dict[str, object]]:
    from mldevbench.trajectory import stored_steps

    place = store.place.child(f"artifacts/{row.run_id}/{row.attempts}")
    return [asdict(step) for step in stored_steps(place)]
