"""`mldevbench show`: one run on the terminal, finished or at work."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.output import Json, Storage, StudyName, note, print_json, print_table, usd_text

if TYPE_CHECKING:
    from mldevbench.cli.finding import Found
    from mldevbench.records import AttemptRow, RunRow, Step
    from mldevbench.store.study_store import StudyStore

LOOK_SECONDS = 2.0


def show(
    study: StudyName,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its first digits.")],
    storage: Storage = "results",
    checks: Annotated[bool, typer.Option("--checks", help="Only what was verified.")] = False,
    trajectory: Annotated[bool, typer.Option("--trajectory", help="Only what the agent did.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Only what happened to it, attempt by attempt.")] = False,
    follow: Annotated[bool, typer.Option("--follow", help="Show what the agent does until it has ended.")] = False,
    json_: Json = False,
) -> None:
    """Show one run: its outcome, what was verified, what the agent did, what happened to it."""
    from mldevbench.cli.finding import find_run
    from mldevbench.store.study_store import find_study

    store = find_study(study, storage)
    if follow:
        _follow(store, run)
    found = find_run(store, run)
    verified = [] if found.row is None else _checks(store, found.run_id)
    steps = _steps(store, found) if (trajectory or json_) and not follow else []
    if json_:
        print_json(_plain(found, verified, steps))
        return
    one = checks or trajectory or log
    if not one:
        _print_head(found)
    if checks or not one:
        marks = [("✓" if check.passed else "✗", check.name, check.expected, check.seen) for check in verified]
        print_table("Checks", ("", "check", "expected", "seen"), marks)
    if log:
        _print_attempts(found.attempts)
    _print_steps(steps)


def _plain(found: Found, verified: Sequence[object], steps: Sequence[Step]) -> dict[str, object]:
    row = asdict(found.row) if found.row else {"run_id": found.run_id, "outcome": None}
    return {
        **row,
        "checks": [asdict(check) for check in verified],  # type: ignore[call-overload]
        "attempts_made": [asdict(attempt) for attempt in found.attempts],
        "trajectory": [asdict(step) for step in steps],
    }


def _follow(store: StudyStore, run: str) -> None:
    """Print each step as it reaches the storage, until the run has a result or its driver is gone."""
    from mldevbench.cli.finding import find_run
    from mldevbench.store.lease import running

    shown, attempt = 0, 0
    while True:
        found, alive = find_run(store, run), running(store.place) is not None
        if found.attempts and found.attempts[-1].attempt != attempt:
            shown, attempt = 0, found.attempts[-1].attempt
            note(f"attempt {attempt}")
        steps = _steps(store, found)
        _print_steps(steps[shown:])
        shown = len(steps)
        if found.row is not None:
            return
        if not alive:
            note("no driver is at work on this study; its run stays owed")
            return
        time.sleep(LOOK_SECONDS)


def _print_steps(steps: Sequence[Step]) -> None:
    from mldevbench.report.visible import visible  # what an agent wrote must not act on the terminal

    for step in steps:
        print(visible(f"--- step {step.number} {step.role} {step.tool or ''}").rstrip())
        print(visible(step.arguments or ""), visible(step.text), sep="\n" if step.arguments else "", flush=True)


def _print_head(found: Found) -> None:
    if found.row:
        _print_row(found.row)
    else:
        print(f"run {found.run_id}: {found.attempts[-1].phase if found.attempts else 'owed'}, no result yet")
    for attempt in found.attempts[-1:]:
        if attempt.detail:
            print(f"  {attempt.detail}")


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


def _print_attempts(attempts: Sequence[AttemptRow]) -> None:
    print_table(
        "Attempts",
        ("attempt", "started", "phase", "outcome", "why", "node", "seconds", "cost", "detail"),
        [
            (
                str(one.attempt), f"{one.started_at:%Y-%m-%d %H:%M:%S}", one.phase, one.outcome or "–",
                one.cause or one.stop_reason or "–", one.node or "–", f"{one.wall_seconds:.1f}",
                usd_text(one.cost_usd), one.detail,
            )
            for one in attempts
        ],
    )  # fmt: skip


def _checks(store: StudyStore, run_id: str) -> list:
    return [check for check in store.checks.rows(store.part_of(run_id)) if check.run_id == run_id]


def _steps(store: StudyStore, found: Found) -> list[Step]:
    from mldevbench.trajectory import stored_steps

    if not found.attempts:
        return []
    return stored_steps(store.place.child(f"artifacts/{found.run_id}/{found.attempts[-1].attempt}"))
