"""Judging stored submissions again: nothing of the study is overwritten, no agent is run."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ray

from cluster.blame import fault_of, unwrapped
from cluster.crew import Crew
from cluster.rows import now_utc
from cluster.run_actor import Site
from cluster.session import node_shapes
from cluster.shape import Shape
from cluster.travel import Luggage
from cluster.validation_actor import Exam, Graded, validation_actor
from mldevbench import __version__
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.errors import Fault
from mldevbench.records import AttemptRow, Outcome, RegradeRow, RunRow
from mldevbench.store.study_store import StudyStore
from mldevbench.validate import Judgement


@dataclass(frozen=True)
class Copy:
    """A result with the submission that it was judged by."""

    row: RunRow
    attempt: AttemptRow


def regrade(
    store: StudyStore, copies: Sequence[Copy], catalog: Catalog, salt: bytes, say: Callable[[RegradeRow], None]
) -> list[RegradeRow]:
    """Judge each submission with the validators as they are now; each verdict is made durable as it comes."""
    total = sum(node_shapes(), start=Shape(0, 0))
    crew = Crew(total, {"validation": lambda shape: validation_actor(shape.cpus, shape.gpus).remote(Site())})
    luggage, waiting, running = Luggage(catalog), list(copies), {}
    made: list[RegradeRow] = []
    try:
        while waiting or running:
            while waiting and (actor := crew.take("validation", Shape(1.0, 0.0))):
                copy = waiting.pop(0)
                reference = actor.grade.remote(_exam(copy, salt), store.place, luggage.whole(copy.row.task))
                running[reference] = (copy, actor)
            ready, _ = ray.wait(list(running), num_returns=1)
            copy, actor = running.pop(ready[0])
            graded = _graded(ready[0])
            crew.give_back(actor, broken=graded.judgement.cause is not None)
            made.append(_row(copy, graded, catalog))
            store.regrades.put(store.part_of(copy.row.run_id), [made[-1]])
            say(made[-1])
    finally:
        crew.end()
    return made


def _exam(copy: Copy, salt: bytes) -> Exam:
    row, attempt = copy.row, copy.attempt
    assert attempt.archive and attempt.digest
    draw = Draw.of(salt, row.task, row.instance)
    return Exam(attempt.archive, attempt.digest, draw, row.profile, row.isolation or "bubblewrap")


def _graded(reference: Any) -> Graded:
    try:
        return ray.get(reference)
    except Exception as error:
        fault = fault_of(error)
        if not isinstance(fault, Fault):
            raise unwrapped(error) from None
        from mldevbench.records import Cause

        return Graded(Judgement(None, Cause(fault.cause), detail=fault.detail), 0.0)


def _row(copy: Copy, graded: Graded, catalog: Catalog) -> RegradeRow:
    row, verdict = copy.row, graded.judgement.verdict
    passed = Outcome.PASSED if verdict and verdict.passed else Outcome.FAILED
    return RegradeRow(
        study=row.study,
        run_id=row.run_id,
        attempt=copy.attempt.attempt,
        label=row.label,
        task=row.task,
        outcome=Outcome.VOID if graded.judgement.cause else passed,
        outcome_before=row.outcome,
        cause=graded.judgement.cause,
        score=verdict.score if verdict else None,
        score_before=row.score,
        metrics=json.dumps({one.name: one.value for one in verdict.metrics} if verdict else {}, sort_keys=True),
        validator_digest=catalog.task(row.task).validator_digest(),
        validator_digest_before=row.validator_digest,
        validate_seconds=graded.seconds,
        regraded_at=now_utc(),
        mldevbench_version=__version__,
    )
