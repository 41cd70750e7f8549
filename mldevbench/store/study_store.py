"""One study's folder: its frozen request, its rows, its artifacts, and the order in which they become durable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mldevbench.errors import UserError, unknown
from mldevbench.records import AttemptRow, CheckRow, RegradeRow, RunRow, SnapshotRow, StepRow, Verdict
from mldevbench.store.parts import PART_RUNS, Parts
from mldevbench.store.place import Place, open_place
from mldevbench.store.verdict import read_verdict, write_verdict


@dataclass(frozen=True)
class Finished:
    """All that one finished run adds to the store."""

    run: RunRow
    attempt: AttemptRow
    checks: tuple[CheckRow, ...] = ()
    steps: tuple[StepRow, ...] = ()


class StudyStore:
    """Reads and writes a study; one driver writes, anyone reads."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.name = place.path.rsplit("/", 1)[-1]
        self.runs = Parts(place.child("runs"), RunRow, lambda row: row.run_id)
        self.attempts = Parts(place.child("attempts"), AttemptRow, lambda row: (row.run_id, row.attempt))
        self.checks = Parts(place.child("checks"), CheckRow, lambda row: (row.run_id, row.position))
        self.steps = Parts(place.child("steps"), StepRow, lambda row: (row.run_id, row.position))
        self.regrades = Parts(
            place.child("regrades"), RegradeRow, lambda row: (row.run_id, row.validator_digest, row.repeat)
        )
        self.snapshots = Parts(
            place.child("snapshots"), SnapshotRow, lambda row: (row.run_id, row.number, row.validator_digest)
        )
        self._part: dict[str, int] = {}
        self._filled: dict[int, int] = {}

    def open(self) -> dict[str, RunRow]:
        """Read which part each run lives in, and every result; what was being written when a driver died is whole."""
        for dataset in (self.attempts, self.runs):
            for number in dataset.numbers():
                for row in dataset.rows(number):
                    if row.run_id not in self._part:
                        self._assign(row.run_id, number)
        return {row.run_id: row for row in self.runs.all()}

    def part_of(self, run_id: str) -> int:
        """Return the part that a run lives in for ever."""
        if run_id not in self._part:
            last = max(self._filled, default=0)
            self._assign(run_id, last + 1 if self._filled.get(last, 0) >= PART_RUNS else last)
        return self._part[run_id]

    def _assign(self, run_id: str, number: int) -> None:
        self._part[run_id] = number
        self._filled[number] = self._filled.get(number, 0) + 1

    def attempt(self, row: AttemptRow) -> None:
        """Make one phase of an attempt durable."""
        self.attempts.put(self.part_of(row.run_id), [row])

    def commit(self, finished: Finished) -> None:
        """Make a result durable: the attempt first, then the run's row, which is the commit; the rest may lag."""
        number = self.part_of(finished.run.run_id)
        self.attempts.put(number, [finished.attempt])
        self.runs.put(number, [finished.run])
        self.checks.put_run(number, finished.run.run_id, finished.checks)
        self.steps.put_run(number, finished.run.run_id, finished.steps)

    def attempts_of(self, run_id: str) -> list[AttemptRow]:
        if run_id not in self._part:
            return []
        rows = [row for row in self.attempts.rows(self._part[run_id]) if row.run_id == run_id]
        return sorted(rows, key=lambda row: row.attempt)

    def attempts_by_run(self) -> dict[str, list[AttemptRow]]:
        """Return every run's attempts in their order, each part read once."""
        found: dict[str, list[AttemptRow]] = {}
        for row in sorted(self.attempts.all(), key=lambda row: row.attempt):
            found.setdefault(row.run_id, []).append(row)
        return found

    def rebuild_checks(self) -> int:
        """Write the check rows that a killed driver still owed, from the verdicts kept beside the submissions."""
        missing = 0
        for number in self.runs.numbers():
            present = {row.run_id for row in self.checks.rows(number)}
            owed = [row for row in self.runs.rows(number) if row.run_id not in present and row.score is not None]
            rows = [check for row in owed for check in self._kept_checks(row)]
            missing += len(owed)
            if rows:
                self.checks.put(number, rows)
        return missing

    def _kept_checks(self, row: RunRow) -> list[CheckRow]:
        verdict = self.verdict(row.run_id, row.attempts)
        return check_rows(self.name, row.run_id, row.attempts, verdict) if verdict else []

    def keep_verdict(self, run_id: str, attempt: int, verdict: Verdict) -> None:
        self.place.write(f"artifacts/{run_id}/{attempt}/verdict.json", write_verdict(verdict))

    def verdict(self, run_id: str, attempt: int) -> Verdict | None:
        name = f"artifacts/{run_id}/{attempt}/verdict.json"
        return read_verdict(self.place.read(name)) if self.place.has(name) else None

    def has_request(self) -> bool:
        return self.place.has("study.yaml")


def check_rows(study: str, run_id: str, attempt: int, verdict: Verdict) -> list[CheckRow]:
    return [
        CheckRow(study, run_id, attempt, position, check.name, check.passed, check.expected, check.seen)
        for position, check in enumerate(verdict.checks)
    ]


def find_study(study: str, storage: str) -> StudyStore:
    """Return an existing study: a name under the storage, or the path or URL of a study folder."""
    named = open_place(storage)
    by_name = Place(named.filesystem, f"{named.path}/{study}", f"{storage}/{study}", f"{named.path}/{study}")
    candidates: Sequence[Place] = [by_name]
    if "/" in study or Path(study).is_dir():
        candidates = [open_place(study), by_name]
    for place in candidates:
        if place.has("study.yaml"):
            return StudyStore(place)
    known = [name for name in named.names() if named.has(f"{name}/study.yaml")]
    raise UserError(f"{unknown('study', study, known)}; looked in {storage} (--storage)")
