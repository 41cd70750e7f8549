"""What a study knows of its runs: every step made durable, spending settled, durations learnt, endings counted."""

from __future__ import annotations

import time

from cluster.history import earlier_durations
from cluster.job import Job, Tally
from cluster.ledger import Ledger
from cluster.retry import Decision, decide, wait_seconds
from cluster.rows import Ending, Facts
from cluster.scheduler import Durations
from cluster.track import Scribe, Track
from cluster.validation_actor import Graded
from mldevbench.draw import salt_digest
from mldevbench.errors import Fault
from mldevbench.records import Cause, Outcome, RunRow, Submitted

COUNTED = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.VOID: "void"}


class Accounts:
    """Turns what happens to a run into rows and numbers; what is done about it is the driver's."""

    def __init__(self, job: Job) -> None:
        self.job = job
        tasks = {run.task: job.catalog.task(run.task) for run in job.plan.runs}
        digests = {name: task.validator_digest() for name, task in tasks.items()}
        prior = {name: task.expected_minutes * 60 for name, task in tasks.items()}
        self.scribe = Scribe(job.store, Facts(job.name, salt_digest(job.salt), digests))
        self.durations = Durations(prior, earlier_durations(job.store.place))
        self.ledger = Ledger(job.policy.usd_limit, job.policy.gpu_hours_limit)
        self.tally = Tally(len(job.plan))

    def take_up(self) -> list[Track]:
        """Read what is there, and return what is owed."""
        store, owed = self.job.store, []
        done = store.open()
        store.rebuild_checks()
        tried = store.attempts_by_run()
        for run in self.job.plan.runs:
            row = done.get(run.run_id)
            if row and row.outcome is not Outcome.VOID:
                self._count(row)
                self.durations.learn(row.label, row.task, row.wall_seconds)
            elif self.job.policy.only == "owed" or (self.job.policy.only == "void") == bool(row):
                owed.append(self.scribe.resume(run, tried.setdefault(run.run_id, [])))
            for attempt in tried.get(run.run_id, ()):
                self.ledger.charge(run, attempt)
        return owed

    def start(self, track: Track) -> bool:
        """Open the next attempt; False where the study's limits leave no room for it."""
        if not self.ledger.reserve(track.run):
            return False
        self.scribe.start(track)
        return True

    def submitted(self, track: Track, submitted: Submitted) -> None:
        self.scribe.submit(track, submitted)
        self.ledger.charge(track.run, track.rows[-1])
        self.durations.learn(track.run.spec.label, track.run.task, submitted.wall_seconds)

    def judged(self, track: Track, graded: Graded) -> RunRow:
        judgement = graded.judgement
        verdict = judgement.verdict
        outcome = Outcome.PASSED if verdict and verdict.passed else Outcome.FAILED
        return self._end(track, Ending(outcome, None, judgement.stop_reason, verdict, graded.seconds, judgement.detail))

    def lost(self, track: Track, fault: Fault, with_node: bool = False) -> RunRow | None:
        """Close a lost attempt; return the void row if it was the last, else None: it is to be tried again."""
        cause = Cause(fault.cause)
        track.losses = track.losses.and_(cause, with_node)
        if track.submitted is None:
            self.scribe.lose(track, cause, fault.detail)
            self.ledger.charge(track.run, track.rows[-1])
        if decide(track.losses, self.job.policy.void_retries) is Decision.GIVE_UP:
            return self._end(track, Ending(Outcome.VOID, cause, detail=fault.detail))
        track.not_before = time.monotonic() + wait_seconds(track.losses)
        return None

    def cancel(self, track: Track) -> None:
        """Close an attempt that a person ended: the run stays owed, and what it cost is kept."""
        self.scribe.lose(track, Cause.CANCELLED, "the study was cancelled")

    def _end(self, track: Track, ending: Ending) -> RunRow:
        finished = self.scribe.end(track, ending)
        self._count(finished.run)
        return finished.run

    def _count(self, row: RunRow) -> None:
        name = COUNTED[row.outcome]
        setattr(self.tally, name, getattr(self.tally, name) + 1)
        if row.spent_usd is None or self.tally.usd is None:
            self.tally.usd = None
        else:
            self.tally.usd += row.spent_usd
