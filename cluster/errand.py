"""What actors are sent to do: the orders and exams of a study, with what must travel along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cluster.crew import Member
from cluster.job import Job
from cluster.track import Track
from cluster.travel import Luggage
from cluster.validation_actor import Exam
from mldevbench.draw import Draw
from mldevbench.execute import Order
from mldevbench.model.replay import Recordings


@dataclass(frozen=True)
class Errand:
    """What an actor is doing for us."""

    kind: str
    track: Track
    member: Member


class Dispatch:
    """Sends actors on errands; what comes back is a reference to wait for."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.luggage = Luggage(job.catalog)
        self.recordings = Recordings(job.store.place)

    def work(self, track: Track, member: Member) -> Any:
        """Let an agent work on an attempt that is open."""
        run, job = track.run, self.job
        order = Order(
            study=job.name,
            run=run,
            attempt=track.attempt,
            draw=Draw.of(job.salt, run.task, run.instance),
            isolation=job.isolation,
            network=job.network,
            model=self.recordings.give(job.models.get(run.spec.model or ""), run),
            secrets=tuple(spec.key for spec in job.models.values() if spec.key),
            snapshot_every=job.snapshot_every,
        )
        carried = (self.luggage.public(run.task), self.luggage.agent(run.spec.agent), self.luggage.solution(run))
        return member.actor.work.remote(order, job.store.place, *carried)

    def grade(self, track: Track, member: Member) -> Any:
        """Have what an attempt submitted judged."""
        run, submitted = track.run, track.submitted
        assert submitted is not None
        draw = Draw.of(self.job.salt, run.task, run.instance)
        exam = Exam(submitted.archive, submitted.digest, draw, run.profile, self.job.isolation)
        return member.actor.grade.remote(exam, self.job.store.place, self.luggage.whole(run.task))
