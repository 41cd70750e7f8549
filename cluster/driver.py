"""The driver: one loop that starts what is owed, takes what is ready, and makes it durable before it counts."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ray

from cluster.blame import fault_of, unwrapped
from cluster.crew import Crew
from cluster.job import Ended, Job, Tally
from cluster.ledger import Ledger
from cluster.retry import Decision, decide
from cluster.rows import Ending, Facts
from cluster.run_actor import run_actor
from cluster.scheduler import Durations, in_order, seconds_left
from cluster.session import node_shapes
from cluster.shape import Shape, demand_placeable
from cluster.track import Scribe, Track
from cluster.travel import Luggage
from cluster.validation_actor import Exam, Graded, validation_actor
from mldevbench.draw import Draw, salt_digest
from mldevbench.errors import Fault
from mldevbench.execute import Order
from mldevbench.model.replay import with_recording
from mldevbench.records import Cause, Outcome, RunRow, Submitted
from mldevbench.store.control import Stop, asked_to_stop, clear
from mldevbench.store.lease import Lease

POLL_SECONDS = 0.5
MIND_SECONDS = 2.0


class Interrupted(Exception):
    """A person or the machine asked the driver to end."""


@dataclass(frozen=True)
class Errand:
    """What an actor is doing for us."""

    kind: str
    track: Track
    actor: Any


class Driver:
    """Runs one study to its end; everything that it decides is decided by pure modules."""

    def __init__(self, job: Job, lease: Lease, report: Callable[[Tally, RunRow | None], None]) -> None:
        self.job = job
        self.lease = lease
        self.report = report
        tasks = {run.task: job.catalog.task(run.task) for run in job.plan.runs}
        digests = {name: task.validator_digest() for name, task in tasks.items()}
        self.scribe = Scribe(job.store, Facts(job.name, salt_digest(job.salt), digests))
        self.durations = Durations({name: task.expected_minutes * 60 for name, task in tasks.items()})
        self.ledger = Ledger(job.policy.usd_limit, job.policy.gpu_hours_limit)
        self.luggage = Luggage(job.catalog)
        self.tally = Tally(len(job.plan))
        self.waiting: list[Track] = []
        self.to_grade: deque[Track] = deque()
        self.errands: dict[Any, Errand] = {}
        self.limit: str | None = None
        self.stopping: Stop | None = None
        self.minded = 0.0
        self.crew = self._crew()

    def _crew(self) -> Crew:
        nodes = node_shapes()
        demand_placeable({self.job.shape(run) for run in self.job.plan.runs}, nodes)
        total = sum(nodes, start=Shape(0, 0))
        # A place of its own for validation would cost a small machine half of its runs.
        self.judge_cpus = 1.0 if total.cpus >= 4 else 0.0
        self.judges = max(1, int(total.cpus // 4))
        factories = {
            "run": lambda shape: run_actor(shape.cpus, shape.gpus).remote(self.job.site),
            "validation": lambda shape: validation_actor(shape.cpus, shape.gpus).remote(self.job.site),
        }
        return Crew(total, factories, self.job.policy.fresh_actors)

    def run(self) -> Ended:
        self._take_up()
        interrupted = False
        try:
            while self.errands or self.to_grade or (self.waiting and not self.holding):
                self._grade_what_is_submitted()
                self._start_what_fits()
                self._take_what_is_ready()
                self._mind_the_study()
                self._tell()
        except (KeyboardInterrupt, Interrupted):
            interrupted = True
        finally:
            self.crew.end()
        return Ended(self.tally, self.limit, interrupted)

    @property
    def holding(self) -> bool:
        """Whether nothing new may start."""
        return self.limit is not None or self.stopping is not None

    def _mind_the_study(self) -> None:
        """Keep the lease, hear what is said to us, and let every run actor know that we live."""
        now = time.monotonic()
        if now - self.minded < MIND_SECONDS:
            return
        self.minded = now
        if not self.lease.renew():
            raise Fault(Cause.DRIVER_LOST, "another driver took this study over")
        for actor in self.crew.working("run"):
            actor.hear.remote()
        self.stopping = asked_to_stop(self.job.store.place)
        if self.stopping is Stop.CANCEL:
            self._cancel()

    def _cancel(self) -> None:
        """Give up what runs: it stays owed, and what it cost is kept."""
        for errand in self.errands.values():
            if errand.kind == "run":
                self.scribe.lose(errand.track, Cause.CANCELLED, "the study was cancelled")
        self.errands.clear()
        self.to_grade.clear()
        self.crew.end()

    def _take_up(self) -> None:
        """Read what is there; everything else in the plan is owed."""
        clear(self.job.store.place)
        done = self.job.store.open()
        self.job.store.rebuild_checks()
        tracks = []
        for run in self.job.plan.runs:
            row = done.get(run.run_id)
            if row and row.outcome is not Outcome.VOID:
                self._count(row)
                self.durations.learn(row.label, row.task, row.wall_seconds)
                continue
            if self.job.policy.only != "owed" and (self.job.policy.only == "void") != bool(row):
                continue
            track = self.scribe.resume(run)
            (self.to_grade if track.submitted else tracks).append(track)
        for run in self.job.plan.runs:
            for row in self.job.store.attempts_of(run.run_id) if self._limited else ():
                self.ledger.charge(run, row)
        owed = {track.run.run_id: track for track in tracks}
        self.waiting = [owed[run.run_id] for run in self._ordered(tracks)]

    @property
    def _limited(self) -> bool:
        return self.job.policy.usd_limit is not None or self.job.policy.gpu_hours_limit is not None

    def _ordered(self, tracks: list[Track]) -> list[Any]:
        return in_order([track.run for track in tracks], self.durations, self.job.policy.order)

    def _grade_what_is_submitted(self) -> None:
        while self.to_grade and self.crew.busy("validation") < self.judges:
            actor = self.crew.take("validation", Shape(self.judge_cpus, 0.0))
            if actor is None:
                return
            self._grade(self.to_grade.popleft(), actor)

    def _grade(self, track: Track, actor: Any) -> None:
        submitted = track.submitted
        assert submitted is not None
        draw = Draw.of(self.job.salt, track.run.task, track.run.instance)
        exam = Exam(submitted.archive, submitted.digest, draw, track.run.profile, self.job.isolation)
        ref = actor.grade.remote(exam, self.job.store.place, self.luggage.whole(track.run.task))
        self.errands[ref] = Errand("validation", track, actor)

    def _start_what_fits(self) -> None:
        while self.waiting and not self.holding:
            if self.crew.busy("run") >= (self.job.policy.runs_at_once or len(self.job.plan)):
                return
            track = self.waiting[0]
            actor = self.crew.take("run", self.job.shape(track.run))
            if actor is None:
                return
            if not self.ledger.reserve(track.run):
                self.crew.give_back(actor)
                self.limit = "the study's limit leaves no room for another run"
                return
            self._start(self.waiting.pop(0), actor)

    def _start(self, track: Track, actor: Any) -> None:
        run = track.run
        model = with_recording(self.job.models.get(run.spec.model or ""), run, self.job.store.place)
        order = Order(
            study=self.job.name,
            run=run,
            attempt=self.scribe.start(track),
            draw=Draw.of(self.job.salt, run.task, run.instance),
            isolation=self.job.isolation,
            network=self.job.network,
            model=model,
            secrets=tuple(spec.key for spec in self.job.models.values() if spec.key),
            snapshot_every=self.job.snapshot_every,
        )
        place = self.job.store.place
        ref = actor.work.remote(
            order, place, self.luggage.public(run.task), self.luggage.agent(run.spec.agent), self.luggage.solution(run)
        )
        self.errands[ref] = Errand("run", track, actor)

    def _take_what_is_ready(self) -> None:
        if not self.errands:
            time.sleep(POLL_SECONDS if self.waiting and not self.holding else 0)
            return
        references = list(self.errands)
        ready, _ = ray.wait(references, num_returns=1, timeout=POLL_SECONDS)
        if ready and len(references) > 1:
            ready, _ = ray.wait(references, num_returns=len(references), timeout=0)
        for reference in ready:
            self._take(self.errands.pop(reference), reference)

    def _take(self, errand: Errand, reference: Any) -> None:
        try:
            result: Any = ray.get(reference)
        except Exception as error:
            self.crew.give_back(errand.actor, broken=True)
            fault = fault_of(error)
            if fault is None:
                raise unwrapped(error) from None
            self._lost(errand.track, fault)
            return
        self.crew.give_back(errand.actor)
        if errand.kind == "run":
            self._submitted(errand.track, result)
        else:
            self._graded(errand.track, result)

    def _submitted(self, track: Track, submitted: Submitted) -> None:
        self.scribe.submit(track, submitted)
        self.ledger.charge(track.run, track.rows[-1])
        self.durations.learn(track.run.spec.label, track.run.task, submitted.wall_seconds)
        self.to_grade.append(track)

    def _graded(self, track: Track, graded: Graded) -> None:
        judgement = graded.judgement
        if judgement.cause is not None:
            self._lost(track, Fault(judgement.cause, judgement.detail))
            return
        verdict = judgement.verdict
        outcome = Outcome.PASSED if verdict and verdict.passed else Outcome.FAILED
        ending = Ending(outcome, None, judgement.stop_reason, verdict, graded.seconds, judgement.detail)
        self._end(track, ending)

    def _lost(self, track: Track, fault: Fault) -> None:
        """Try again what was lost, or declare the run void; what is submitted owes validation only."""
        cause = Cause(fault.cause)
        if track.submitted is not None:
            track.losses = track.losses.and_(cause)
        else:
            self.scribe.lose(track, cause, fault.detail)
            self.ledger.charge(track.run, track.rows[-1])
        if decide(track.losses, self.job.policy.void_retries) is Decision.AGAIN:
            (self.to_grade if track.submitted else self.waiting).append(track)
        else:
            self._end(track, Ending(Outcome.VOID, cause, detail=fault.detail))

    def _end(self, track: Track, ending: Ending) -> None:
        finished = self.scribe.end(track, ending)
        self._count(finished.run)
        self._tell(finished.run)

    def _count(self, row: RunRow) -> None:
        name = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.VOID: "void"}[row.outcome]
        setattr(self.tally, name, getattr(self.tally, name) + 1)
        if row.spent_usd is None or self.tally.usd is None:
            self.tally.usd = None
        else:
            self.tally.usd += row.spent_usd

    def _tell(self, finished: RunRow | None = None) -> None:
        now = time.monotonic()
        working = [errand.track for errand in self.errands.values() if errand.kind == "run"]
        self.tally.running, self.tally.grading = len(working), len(self.to_grade) + len(self.errands) - len(working)
        ahead = [self.durations.expect(track.run) - (now - track.started) for track in working]
        slots = max(int(self.crew.total.cpus), 1)
        self.tally.seconds_left = seconds_left([track.run for track in self.waiting], ahead, slots, self.durations)
        self.report(self.tally, finished)
