"""Judging many stored submissions on the cluster, as they come; no agent is run."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ray

from cluster.blame import berth_of, fault_of, unwrapped
from cluster.crew import Crew
from cluster.hiring import hirer
from cluster.retry import Decision, Losses, decide
from cluster.session import live_nodes
from cluster.shape import Shape
from cluster.site import Site
from cluster.travel import Luggage
from cluster.validation_actor import Exam, Graded
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.errors import Fault, UserError
from mldevbench.records import Cause, RunRow
from mldevbench.store.place import Place
from mldevbench.validate import Judgement

POLL_SECONDS = 0.5
RETRIES = 2


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
    """Yield each piece with its judgement as soon as it is there; a judge that is lost costs another, no verdict."""
    crew = Crew(hirer(Site()), live_nodes())
    luggage, waiting, running = Luggage(catalog), list(reversed(pieces)), {}
    losses: defaultdict[int, Losses] = defaultdict(Losses)
    try:
        while waiting or running:
            crew.begin_round()
            unplaced = []
            while waiting and not crew.blocked("validation", shape := _shape(waiting[-1], catalog, crew)):
                piece, member = waiting.pop(), crew.request("validation", shape)
                if member is None:
                    unplaced.append(piece)
                else:
                    exam, task = piece.exam(salt), luggage.whole(piece.row.task)
                    running[member.actor.grade.remote(exam, place, task)] = (piece, member)
            waiting += reversed(unplaced)
            references = [*running, *crew.coming()]
            if not references:
                time.sleep(POLL_SECONDS)
                continue
            ready, _ = ray.wait(references, num_returns=1)
            if ready[0] not in running:
                complaint = crew.arrived(ready[0], berth_of(ready[0]))
                if complaint and all(node.id in crew.unfit for node in crew.nodes):
                    raise UserError(f"no node can judge anything: {complaint}")
                continue
            piece, member = running.pop(ready[0])
            graded = _graded(ready[0])
            cause = graded.judgement.cause
            crew.release(member, broken=cause is not None)
            if cause is not None:
                crew.nodes = live_nodes()  # it may have gone with its node
                losses[id(piece)] = losses[id(piece)].and_(cause)
                if decide(losses[id(piece)], RETRIES) is Decision.AGAIN:
                    waiting.append(piece)
                    continue
            yield piece, graded
    finally:
        crew.end()


def _shape(piece: Piece, catalog: Catalog, crew: Crew) -> Shape:
    most = max((node.total.gpus for node in crew.nodes), default=0.0)
    return Shape(1.0, min(catalog.task(piece.row.task).validation.gpus, most))


def _graded(reference: Any) -> Graded:
    try:
        return ray.get(reference)
    except Exception as error:
        fault = fault_of(error)
        if not isinstance(fault, Fault):
            raise unwrapped(error) from None
        return Graded(Judgement(None, Cause(fault.cause), detail=fault.detail), 0.0)
