"""Judging many stored submissions on the cluster, as they come; no agent is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ray

from cluster.blame import fault_of, unwrapped
from cluster.crew import Crew
from cluster.run_actor import Site
from cluster.session import node_shapes
from cluster.shape import Shape
from cluster.travel import Luggage
from cluster.validation_actor import Exam, Graded, validation_actor
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.errors import Fault
from mldevbench.records import Cause, RunRow
from mldevbench.store.place import Place
from mldevbench.validate import Judgement


@dataclass(frozen=True)
class Piece:
    """One archive to judge, and the run that it belongs to; `about` is the asker's own."""

    row: RunRow
    archive: str
    digest: str
    about: Any = None

    def exam(self, salt: bytes) -> Exam:
        draw = Draw.of(salt, self.row.task, self.row.instance)
        return Exam(self.archive, self.digest, draw, self.row.profile, self.row.isolation or "bubblewrap")


def judge_all(pieces: Sequence[Piece], place: Place, catalog: Catalog, salt: bytes) -> Iterator[tuple[Piece, Graded]]:
    """Yield each piece with its judgement as soon as it is there."""
    total = sum(node_shapes(), start=Shape(0, 0))
    crew = Crew(total, {"validation": lambda shape: validation_actor(shape.cpus, shape.gpus).remote(Site())})
    luggage, waiting, running = Luggage(catalog), list(reversed(pieces)), {}
    try:
        while waiting or running:
            while waiting and (actor := crew.take("validation", Shape(1.0, 0.0))):
                piece = waiting.pop()
                reference = actor.grade.remote(piece.exam(salt), place, luggage.whole(piece.row.task))
                running[reference] = (piece, actor)
            ready, _ = ray.wait(list(running), num_returns=1)
            piece, actor = running.pop(ready[0])
            graded = _graded(ready[0])
            crew.give_back(actor, broken=graded.judgement.cause is not None)
            yield piece, graded
    finally:
        crew.end()


def _graded(reference: Any) -> Graded:
    try:
        return ray.get(reference)
    except Exception as error:
        fault = fault_of(error)
        if not isinstance(fault, Fault):
            raise unwrapped(error) from None
        return Graded(Judgement(None, Cause(fault.cause), detail=fault.detail), 0.0)
