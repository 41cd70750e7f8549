"""Declaring a run void by hand: it stops counting, its reason stays with its attempt, and it is owed again."""

from __future__ import annotations

from dataclasses import replace

from mldevbench.errors import UserError
from mldevbench.records import Cause, Outcome, RunRow
from mldevbench.store.lease import Lease
from mldevbench.store.study_store import StudyStore

LONGEST_REASON = 1000


def declare_void(store: StudyStore, row: RunRow, reason: str) -> RunRow:
    """Rewrite a run's row and that of its last attempt; a study that is being run is left alone."""
    if not reason.strip():
        raise UserError("--reason: say why, since every report shows this run as void")
    if row.outcome is Outcome.VOID and row.cause is Cause.MANUAL:
        raise UserError(f"run {row.run_id} is void already")
    attempts = store.attempts_of(row.run_id)
    if not attempts:
        raise UserError(f"run {row.run_id} has no attempt in this study, so there is nowhere to keep the reason")
    lease = Lease(store.place)
    lease.take()
    try:
        last = replace(
            attempts[-1], phase="lost", outcome=Outcome.VOID, cause=Cause.MANUAL, detail=reason.strip()[:LONGEST_REASON]
        )
        voided = replace(row, outcome=Outcome.VOID, cause=Cause.MANUAL, score=None)
        store.attempt(last)
        store.runs.put(store.part_of(row.run_id), [voided])
    finally:
        lease.release()
    return voided
