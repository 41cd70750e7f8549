"""One run on its way through a driver, and the rows that it leaves behind at each step."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from cluster.retry import Losses
from cluster.rows import Ending, Facts, ended_row, now_utc, restored, run_row, started_row, submitted_row
from mldevbench.records import AttemptRow, Cause, Outcome, Run, Submitted
from mldevbench.store.study_store import Finished, StudyStore, check_rows
from mldevbench.trajectory import rows_of_steps, stored_steps


@dataclass
class Track:
    """A run that is owed."""

    run: Run
    rows: list[AttemptRow] = field(default_factory=list)
    losses: Losses = field(default_factory=Losses)
    submitted: Submitted | None = None
    queued: float = field(default_factory=time.monotonic)
    started: float = 0.0
    not_before: float = 0.0  # when it may be tried again
    gpus: float | None = None  # that its actor holds: in the mini profile fewer than asked for, where no node has more

    @property
    def attempt(self) -> int:
        return self.rows[-1].attempt if self.rows else 0


class Scribe:
    """Writes what happens to runs, each phase durable before it is acted on."""

    def __init__(self, store: StudyStore, facts: Facts) -> None:
        self.store = store
        self.facts = facts

    def resume(self, run: Run, rows: list[AttemptRow]) -> Track:
        """Take up a run where the last durable phase of its attempts left it."""
        track = Track(run, rows)
        if rows and rows[-1].phase == "submitted":
            track.submitted = restored(rows[-1])
        elif rows and rows[-1].phase == "started":
            track.losses = track.losses.and_(Cause.DRIVER_LOST)
            self.lose(track, Cause.DRIVER_LOST, "the driver ended while the agent worked")
        return track

    def start(self, track: Track) -> int:
        """Open the next attempt."""
        track.started = time.monotonic()
        track.rows.append(started_row(self.facts, track.run, track.attempt + 1, now_utc()))
        self.store.attempt(track.rows[-1])
        return track.attempt

    def submit(self, track: Track, submitted: Submitted) -> None:
        track.submitted = submitted
        track.rows[-1] = submitted_row(self.facts, track.run, submitted, track.gpus)
        self.store.attempt(track.rows[-1])

    def lose(self, track: Track, cause: Cause, detail: str) -> None:
        """Close an attempt that came to nothing through no doing of its own."""
        row = replace(track.rows[-1], detail=detail)
        if row.finished_at is None and track.started:
            seconds = time.monotonic() - track.started
            gpus = track.run.gpus if track.gpus is None else track.gpus
            row = replace(row, wall_seconds=seconds, gpu_seconds=seconds * gpus)
        row = self._with_usage(row)
        track.rows[-1] = ended_row(row, Ending(Outcome.VOID, cause), now_utc())
        self.store.attempt(track.rows[-1])

    def _with_usage(self, row: AttemptRow) -> AttemptRow:
        """Charge a lost attempt for the calls that its trajectory tells of."""
        if row.phase != "started":
            return row
        spent = [step.usage for step in self._steps(row) if step.role == "model"]
        costs = [usage.cost_usd for usage in spent]
        return replace(
            row,
            steps=len(spent),
            prompt_tokens=sum(usage.prompt_tokens for usage in spent),
            completion_tokens=sum(usage.completion_tokens for usage in spent),
            cost_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        )

    def end(self, track: Track, ending: Ending) -> Finished:
        """Make a result durable: verdict, attempt, row."""
        if ending.verdict:
            self.store.keep_verdict(track.run.run_id, track.attempt, ending.verdict)
        if track.rows[-1].phase != "lost":
            track.rows[-1] = ended_row(track.rows[-1], ending, now_utc())
        waited = max(track.started - track.queued, 0.0)
        row = run_row(self.facts, track.run, track.rows, ending, waited, now_utc())
        key = (self.facts.study, track.run.run_id, track.attempt)
        checks = tuple(check_rows(*key, ending.verdict)) if ending.verdict else ()
        finished = Finished(row, track.rows[-1], checks, tuple(rows_of_steps(*key, self._steps(track.rows[-1]))))
        self.store.commit(finished)
        return finished

    def _steps(self, row: AttemptRow) -> list:
        return stored_steps(self.store.place.child(f"artifacts/{row.run_id}/{row.attempt}"))
