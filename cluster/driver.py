"""The driver: one loop that starts what is owed, takes what is ready, and makes it durable before it counts."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import ray

from cluster.blame import berth_of, fault_of, unwrapped, vanished
from cluster.crew import Crew, Member
from cluster.heartbeat import Heartbeat
from cluster.hiring import hirer
from cluster.history import earlier_durations
from cluster.job import Ended, Job, Tally
from cluster.ledger import Ledger
from cluster.retry import Decision, decide, wait_seconds
from cluster.room import Rooms
from cluster.rows import Ending, Facts
from cluster.scheduler import Durations, Queue
from cluster.session import live_nodes
from cluster.standing import bring_up_to_date
from cluster.track import Scribe, Track
from cluster.travel import Luggage
from cluster.validation_actor import Exam, Graded
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
    member: Member


class Driver:
    """Runs one study to its end; everything that it decides is decided by pure modules."""

    def __init__(self, job: Job, lease: Lease, report: Callable[[Tally, RunRow | None], None]) -> None:
        self.job = job
        self.lease = lease
        self.report = report
        tasks = {run.task: job.catalog.task(run.task) for run in job.plan.runs}
        digests = {name: task.validator_digest() for name, task in tasks.items()}
        self.scribe = Scribe(job.store, Facts(job.name, salt_digest(job.salt), digests))
        prior = {name: task.expected_minutes * 60 for name, task in tasks.items()}
        self.durations = Durations(prior, earlier_durations(job.store.place))
        self.ledger = Ledger(job.policy.usd_limit, job.policy.gpu_hours_limit)
        self.luggage = Luggage(job.catalog)
        self.tally = Tally(len(job.plan))
        self.rooms = Rooms(job, live_nodes())
        self.crew = Crew(hirer(job.site), self.rooms.nodes, job.policy.fresh_actors)
        self.waiting: Queue[Track] = Queue(self.durations, self.rooms.run, job.policy.order)
        self.later: list[Track] = []  # lost, and not to be tried again at once
        self.to_grade: deque[Track] = deque()
        self.errands: dict[Any, Errand] = {}
        self.limit: str | None = None
        self.stopping: Stop | None = None
        self.minded = 0.0
        self.deadline = None if job.policy.max_hours is None else time.monotonic() + job.policy.max_hours * 3600

    def run(self) -> Ended:
        self._take_up()
        interrupted = False
        try:
            with Heartbeat(self._working):
                while self.errands or self.to_grade or ((self.waiting or self.later) and not self.holding):
                    self._take_what_is_ready()
                    self.crew.begin_round()
                    self._grade_what_is_submitted()
                    self._start_what_fits()
                    self._mind_the_study()
                    self._tell()
        except (KeyboardInterrupt, Interrupted):
            interrupted = True
        finally:
            self.crew.end()
        return Ended(self.tally, self.limit, interrupted)

    def drain(self) -> None:
        """Start nothing new; what runs is finished and judged."""
        self.stopping = self.stopping or Stop.DRAIN

    @property
    def holding(self) -> bool:
        """Whether nothing new may start."""
        return self.limit is not None or self.stopping is not None

    def _working(self) -> list[Any]:
        return [one.actor for one in list(self.crew.members) if one.busy and one.kind == "run"]

    def _mind_the_study(self) -> None:
        """Keep the lease, hear what is said to us, look at the nodes, and let go of what is idle."""
        now = time.monotonic()
        if now - self.minded < MIND_SECONDS:
            return
        self.minded = now
        if not self.lease.renew():
            raise Fault(Cause.DRIVER_LOST, "another driver took this study over")
        self.stopping = asked_to_stop(self.job.store.place) or self.stopping
        self.crew.nodes = self.rooms.see(live_nodes())
        self.waiting.slots = self.rooms.slots()
        wanted = {("validation", self.rooms.validation(track.run)) for track in self.to_grade}
        self.crew.tidy(wanted | {("run", shape) for shape in self.waiting.shapes() if not self.holding})
        if self.deadline is not None and now > self.deadline:
            self.limit = self.limit or "the time that --max-hours gives is over"
            self.stopping = Stop.CANCEL
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
        self.waiting.slots = self.rooms.slots()
        for run in self.job.plan.runs:
            row = done.get(run.run_id)
            if row and row.outcome is not Outcome.VOID:
                self._count(row)
                self.durations.learn(row.label, row.task, row.wall_seconds)
                continue
            if self.job.policy.only != "owed" and (self.job.policy.only == "void") != bool(row):
                continue
            track = self.scribe.resume(run)
            if track.submitted:
                self.to_grade.append(track)
            else:
                self.waiting.add(track)
        for run in self.job.plan.runs:
            for row in self.job.store.attempts_of(run.run_id) if self._limited else ():
                self.ledger.charge(run, row)

    @property
    def _limited(self) -> bool:
        return self.job.policy.usd_limit is not None or self.job.policy.gpu_hours_limit is not None

    def _grade_what_is_submitted(self) -> None:
        unplaced = []
        for _ in range(min(len(self.to_grade), self.rooms.judges - self.crew.busy("validation"))):
            track = self.to_grade.popleft()
            member = self.crew.request("validation", self.rooms.validation(track.run))
            if member is None:
                unplaced.append(track)
            else:
                self._grade(track, member)
        self.to_grade.extendleft(reversed(unplaced))

    def _grade(self, track: Track, member: Member) -> None:
        submitted = track.submitted
        assert submitted is not None
        draw = Draw.of(self.job.salt, track.run.task, track.run.instance)
        exam = Exam(submitted.archive, submitted.digest, draw, track.run.profile, self.job.isolation)
        ref = member.actor.grade.remote(exam, self.job.store.place, self.luggage.whole(track.run.task))
        self.errands[ref] = Errand("validation", track, member)

    def _start_what_fits(self) -> None:
        """Offer what waits to the crew in its order; what finds no actor yet waits on."""
        now, unplaced = time.monotonic(), []
        for track in [one for one in self.later if one.not_before <= now]:
            self.later.remove(track)
            self.waiting.add(track, tried=track.attempt)
        most = self.job.policy.runs_at_once or len(self.job.plan)
        while self.waiting and not self.holding and self.crew.busy("run") + len(unplaced) < most:
            track = self.waiting.pop({shape for shape in self.waiting.shapes() if self.crew.blocked("run", shape)})
            if track is None:
                break
            if not self._started(track):
                unplaced.append(track)
        for track in unplaced:
            self.waiting.add(track, tried=track.attempt)

    def _started(self, track: Track) -> bool:
        expected = self.durations.expect(track.run)
        if self.deadline is not None and time.monotonic() + expected > self.deadline:
            self.limit = "what is left can't end within --max-hours"
            return False
        member = self.crew.request("run", self.rooms.run(track.run))
        if member is None:
            return False
        if not self.ledger.reserve(track.run):
            self.crew.release(member)
            self.limit = "the study's limit leaves no room for another run"
            return False
        self._start(track, member)
        return True

    def _start(self, track: Track, member: Member) -> None:
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
        ref = member.actor.work.remote(
            order,
            self.job.store.place,
            self.luggage.public(run.task),
            self.luggage.agent(run.spec.agent),
            self.luggage.solution(run),
        )
        self.errands[ref] = Errand("run", track, member)
        self.waiting.working[run.spec.label] += 1

    def _take_what_is_ready(self) -> None:
        coming = self.crew.coming()
        references = [*self.errands, *coming]
        if not references:
            time.sleep(0.05)
            return
        ready, _ = ray.wait(references, num_returns=1, timeout=POLL_SECONDS)
        ready, _ = ray.wait(references, num_returns=len(references), timeout=0) if ready else ([], [])
        for reference in ready:
            if reference in self.errands:
                self._take(self.errands.pop(reference), reference)
            else:
                self._arrived(reference)

    def _arrived(self, reference: Any) -> None:
        if complaint := self.crew.arrived(reference, berth_of(reference)):
            self.tally.notes.append(f"left out: {complaint}")
            self.rooms.demand_some_fit(self.crew.unfit)

    def _take(self, errand: Errand, reference: Any) -> None:
        if errand.kind == "run":
            self.waiting.working[errand.track.run.spec.label] -= 1
        node = errand.member.node
        try:
            result: Any = ray.get(reference)
        except Exception as error:
            self.crew.release(errand.member, broken=True)
            fault = fault_of(error)
            if fault is None:
                raise unwrapped(error) from None
            self.crew.nodes = self.rooms.see(live_nodes())
            lost_node = vanished(error, node, self.crew.nodes)
            self.crew.strike(node, fault=not lost_node)
            self._lost(errand.track, fault, lost_node)
            return
        self.crew.release(errand.member)
        self.crew.strike(node, fault=False)
        if errand.kind == "run":
            self._submitted(errand.track, replace(result, gpu_type=self.rooms.gpu_type(errand.track.run, node)))
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
            self._lost(track, Fault(judgement.cause, judgement.detail), False)
            return
        verdict = judgement.verdict
        outcome = Outcome.PASSED if verdict and verdict.passed else Outcome.FAILED
        ending = Ending(outcome, None, judgement.stop_reason, verdict, graded.seconds, judgement.detail)
        self._end(track, ending)

    def _lost(self, track: Track, fault: Fault, lost_node: bool) -> None:
        """Try again what was lost, or declare the run void; what is submitted owes validation only."""
        cause = Cause(fault.cause)
        track.losses = track.losses.and_(cause, lost_node)
        if track.submitted is None:
            self.scribe.lose(track, cause, fault.detail)
            self.ledger.charge(track.run, track.rows[-1])
        if decide(track.losses, self.job.policy.void_retries) is Decision.GIVE_UP:
            self._end(track, Ending(Outcome.VOID, cause, detail=fault.detail))
        elif track.submitted:
            self.to_grade.append(track)
        else:
            track.not_before = time.monotonic() + wait_seconds(track.losses)
            self.later.append(track)

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
        working = [errand.track for errand in self.errands.values() if errand.kind == "run"]
        self.tally.grading = len(self.to_grade) + len(self.errands) - len(working)
        bring_up_to_date(self.tally, self.crew, self.waiting, [(one.run, one.started) for one in working])
        self.report(self.tally, finished)
