"""Judging stored submissions and snapshots again: nothing of the study is overwritten, no agent is run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from cluster.judging import Piece, judge_all
from cluster.rows import now_utc
from cluster.validation_actor import Graded
from mldevbench import __version__
from mldevbench.catalog import Catalog
from mldevbench.records import Outcome, RegradeRow, Snapshot, SnapshotRow, Verdict
from mldevbench.store.study_store import StudyStore


def regrade(
    store: StudyStore, pieces: Sequence[Piece], catalog: Catalog, salt: bytes, say: Callable[[RegradeRow], None]
) -> list[RegradeRow]:
    """Judge each submission with the validators as they are now; `about` says which repeat and attempt it is."""
    made: list[RegradeRow] = []
    for piece, graded in judge_all(pieces, store.place, catalog, salt):
        made.append(_regrade_row(piece, graded, catalog))
        store.regrades.put(store.part_of(piece.row.run_id), [made[-1]])
        say(made[-1])
    return made


def grade_snapshots(
    store: StudyStore, pieces: Sequence[Piece], catalog: Catalog, salt: bytes, say: Callable[[SnapshotRow], None]
) -> list[SnapshotRow]:
    """Judge snapshots, each distinct one once; return a row for each that was."""
    made: list[SnapshotRow] = []
    for piece, graded in judge_all(pieces, store.place, catalog, salt):
        rows = [snapshot_row(piece, snapshot, graded, catalog) for snapshot in piece.about]
        store.snapshots.put(store.part_of(piece.row.run_id), rows)
        made.append(rows[0])
        say(rows[0])
    return made


def snapshot_row(piece: Piece, snapshot: Snapshot, graded: Graded, catalog: Catalog) -> SnapshotRow:
    row, judgement = piece.row, graded.judgement
    return SnapshotRow(
        study=row.study,
        run_id=row.run_id,
        attempt=row.attempts,
        number=snapshot.number,
        label=row.label,
        task=row.task,
        steps=snapshot.steps,
        tokens=snapshot.tokens,
        usd=snapshot.usd,
        minutes=snapshot.minutes,
        digest=snapshot.digest,
        outcome=_outcome(graded),
        cause=judgement.cause,
        score=judgement.verdict.score if judgement.verdict else None,
        metrics=_metrics(judgement.verdict),
        validator_digest=catalog.task(row.task).validator_digest(),
        validate_seconds=graded.seconds,
    )


def _regrade_row(piece: Piece, graded: Graded, catalog: Catalog) -> RegradeRow:
    row, verdict = piece.row, graded.judgement.verdict
    return RegradeRow(
        study=row.study,
        run_id=row.run_id,
        attempt=piece.about.attempt,
        label=row.label,
        task=row.task,
        outcome=_outcome(graded),
        outcome_before=row.outcome,
        cause=graded.judgement.cause,
        score=verdict.score if verdict else None,
        score_before=row.score,
        metrics=_metrics(verdict),
        validator_digest=catalog.task(row.task).validator_digest(),
        validator_digest_before=row.validator_digest,
        validate_seconds=graded.seconds,
        regraded_at=now_utc(),
        mldevbench_version=__version__,
        repeat=piece.about.repeat,
    )


def _outcome(graded: Graded) -> Outcome:
    if graded.judgement.cause:
        return Outcome.VOID
    verdict = graded.judgement.verdict
    return Outcome.PASSED if verdict and verdict.passed else Outcome.FAILED


def _metrics(verdict: Verdict | None) -> str:
    return json.dumps({one.name: one.value for one in verdict.metrics} if verdict else {}, sort_keys=True)
