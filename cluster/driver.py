"""The driver: one loop that starts what is owed, takes what is ready, and makes it durable before it counts."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ray

from cluster.accounts import Accounts
from cluster.blame import berth_of, fault_of, unwrapped, vanished
from cluster.crew import Crew, Member
from cluster.errand import Dispatch, Errand
from cluster.heartbeat import Heartbeat
from cluster.hiring import hirer
from cluster.job import Ended, Job, Tally
from cluster.room import Rooms
from cluster.scheduler import Queue
from cluster.session import live_nodes
from cluster.standing import bring_up_to_date
from cluster.track import Track
from mldevbench.errors import Fault
from mldevbench.records import Cause, RunRow
from mldevbench.store.control import Stop, asked_to_stop, clear
from mldevbench.store.lease import Lease

POLL_SECONDS = 0.5
MIND_SECONDS = 2.0


class Interrupted(Exception):
    """A person or the machine asked the driver to end."""


class Driver:
    """Runs one study to its end; everything that it decides is decided by pure modules."""

    def __init__(self, job: Job, lease: Lease, report: Callable[[Tally, RunRow | None], None]) -> None:
        self.job = job
        self.lease = lease
        self.report = report
        self.accounts = Accounts(job)
        self.dispatch = Dispatch(job)
        self.rooms = Rooms(job, live_nodes())
        self.crew = Crew(hirer(job.site), self.rooms.nodes, job.policy.fresh_actors)
        self.heartbeat = Heartbeat(self._working)
        self.tally = self.accounts.tally
        self.tally.notes += self.rooms.notes
        self.waiting: Queue[Track] = Queue(self.accounts.durations, self.rooms.run, job.policy.order)
        self.later: list[Track] = []  # lost, and not to be tried again at once
        self.too_long: list[Track] = []  # can't end within --max-hours
        self.to_grade: deque[Track] = deque()
        self.errands: dict[Any, Errand] = {}
        self.limit: str | None = None
        self.committed = False  # whether what is under way may use up the study's limits
        self.stopping: Stop | None = None
        self.minded = 0.0
        self.deadline = None if job.policy.max_hours is None else time.monotonic() + job.policy.max_hours * 3600

    def run(self) -> Ended:
        interrupted = False
        try:
            self._take_up()
            with self.heartbeat:
                while self.errands or self.to_grade or ((self.waiting or self.later) and not self.holding):
                    self.crew.begin_round()
                    self._grade_what_is_submitted()
                    self._start_what_fits()
                    self._take_what_is_ready()
                    self._mind_the_study()
                    self._tell()
            self._see_to_limits()
        except (KeyboardInterrupt, Interrupted):
            interrupted = True
        except SystemError as error:
            # Ray's compiled code may come back with the signal's own exception still set.
            if not isinstance(error.__cause__, (KeyboardInterrupt, Interrupted)):
                raise
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

    def _take_up(self) -> None:
        clear(self.job.store.place)
        self.waiting.slots = self.rooms.slots()
        for track in self.accounts.take_up():
            self._wait(track)

    def _wait(self, track: Track) -> None:
        """Let a run wait for what it owes: its validation, or an attempt."""
        if track.submitted:
            self.to_grade.append(track)
        elif track.not_before > time.monotonic():
            self.later.append(track)
        else:
            self.waiting.add(track, tried=track.attempt)

    def _mind_the_study(self) -> None:
        """Keep the lease, hear what is said to us, look at the nodes, and let go of what is idle."""
        now = time.monotonic()
        if now - self.minded < MIND_SECONDS:
            return
        self.minded = now
        if not self.lease.renew():
            raise Fault(Cause.DRIVER_LOST, "another driver took this study over")
        self.stopping = asked_to_stop(self.job.store.place) or self.stopping
        self._look_at_nodes()
        wanted = {("validation", self.rooms.validation(track.run)) for track in self.to_grade}
        self.crew.tidy(wanted | {("run", shape) for shape in self.waiting.shapes() if not self.holding})
        if self.deadline is not None and now > self.deadline:
            self.limit = self.limit or "the time that --max-hours gives is over"
            self.stopping = Stop.CANCEL
        if self.stopping is Stop.CANCEL:
            self._cancel()

    def _look_at_nodes(self) -> None:
        self.crew.nodes = self.rooms.see(live_nodes())
        self.waiting.slots = self.rooms.slots()

    def _cancel(self) -> None:
        """Give up what runs."""
        for errand in self.errands.values():
            if errand.kind == "run":
                self.accounts.cancel(errand.track)
        self.errands.clear()
        self.to_grade.clear()
        self.crew.end()

    def _grade_what_is_submitted(self) -> None:
        unplaced = []
        for _ in range(min(len(self.to_grade), self.rooms.judges - self.crew.busy("validation"))):
            track = self.to_grade.popleft()
            if member := self.crew.request("validation", self.rooms.validation(track.run)):
                self.errands[self.dispatch.grade(track, member)] = Errand("validation", track, member)
            else:
                unplaced.append(track)
        self.to_grade.extendleft(reversed(unplaced))

    def _start_what_fits(self) -> None:
        """Offer what waits to the crew in its order; what finds no actor yet waits on."""
        due, self.later = self.later, []
        for track in due:
            self._wait(track)
        unplaced: list[Track] = []
        most = self.job.policy.runs_at_once or len(self.job.plan)
        while self._may_start() and self.crew.busy("run") + len(unplaced) < most:
            track = self.waiting.pop({shape for shape in self.waiting.shapes() if self.crew.blocked("run", shape)})
            if track is None:
                break
            if self._ends_too_late(track):
                self.too_long.append(track)
            elif not self._started(track):
                unplaced.append(track)
        for track in unplaced:
            self._wait(track)
        self._see_to_limits()

    def _may_start(self) -> bool:
        return bool(self.waiting) and not self.holding and not self.committed

    def _ends_too_late(self, track: Track) -> bool:
        expected = self.accounts.durations.expect(track.run)
        return self.deadline is not None and time.monotonic() + expected > self.deadline

    def _see_to_limits(self) -> None:
        """Say what ends the study before its plan, once nothing under way can change it."""
        if any(errand.kind == "run" for errand in self.errands.values()):
            return
        if self.too_long and not (self.waiting or self.later):
            self.limit = self.limit or "what is left can't end within --max-hours"
        if self.committed:
            self.limit = self.limit or "the study's limit leaves no room for another run; raise --limit to go on"

    def _started(self, track: Track) -> bool:
        member = self.crew.request("run", self.rooms.run(track.run))
        if member is None:
            return False
        if not self.accounts.start(track):
            self.crew.release(member)
            self.committed = True
            return False
        track.gpus = member.shape.gpus
        self.errands[self.dispatch.work(track, member)] = Errand("run", track, member)
        self.waiting.working[track.run.spec.label] += 1
        return True

    def _take_what_is_ready(self) -> None:
        references = [*self.errands, *self.crew.coming()]
        if not references:
            time.sleep(POLL_SECONDS / 10)
            return
        ready, _ = ray.wait(references, num_returns=1, timeout=POLL_SECONDS)
        if ready:  # and whatever else came meanwhile
            ready, _ = ray.wait(references, num_returns=len(references), timeout=0)
        for reference in ready:
            if reference in self.errands:
                self._take(self.errands.pop(reference), reference)
            else:
                self._arrived(reference)

    def _arrived(self, reference: Any) -> None:
        if complaint := self.crew.arrived(reference, berth_of(reference)):
            self.tally.notes.append(complaint)
            self.rooms.demand_some_fit(self.crew.unfit)

    def _take(self, errand: Errand, reference: Any) -> None:
        if errand.kind == "run":
            self.waiting.working[errand.track.run.spec.label] -= 1
            self.committed = False  # it cost less than its worst case, most likely
        try:
            result: Any = ray.get(reference)
        except Exception as error:
            self._failed(errand, error)
            return
        self.crew.release(errand.member)
        self.crew.strike(errand.member.node, fault=False)
        if errand.kind == "run":
            gpu_type = self.rooms.gpu_type(errand.track.run, errand.member.node)
            self.accounts.submitted(errand.track, replace(result, gpu_type=gpu_type))
            self._wait(errand.track)
        elif result.judgement.cause is not None:
            self._lost(errand.track, Fault(result.judgement.cause, result.judgement.detail))
        else:
            self._tell(self.accounts.judged(errand.track, result))

    def _failed(self, errand: Errand, error: Exception) -> None:
        member: Member = errand.member
        self.crew.release(member, broken=True)
        fault = fault_of(error)
        if fault is None:
            raise unwrapped(error) from None
        self._look_at_nodes()
        with_node = vanished(error, member.node, self.crew.nodes)
        self.crew.strike(member.node, fault=not with_node)
        self._lost(errand.track, fault, with_node)

    def _lost(self, track: Track, fault: Fault, with_node: bool = False) -> None:
        """Try again what was lost, or declare the run void; what is submitted owes validation only."""
        void = self.accounts.lost(track, fault, with_node)
        if void is None:
            self._wait(track)
        else:
            self._tell(void)

    def _working(self) -> list[Any]:
        return [one.actor for one in list(self.crew.members) if one.busy and one.kind == "run"]

    def _tell(self, finished: RunRow | None = None) -> None:
        working = [errand.track for errand in self.errands.values() if errand.kind == "run"]
        self.tally.grading = len(self.to_grade) + len(self.errands) - len(working)
        self.tally.model_wait_seconds = self.heartbeat.wait_seconds
        bring_up_to_date(self.tally, self.crew, self.waiting, [(one.run, one.started) for one in working])
        self.report(self.tally, finished)
