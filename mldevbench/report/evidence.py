"""All that a report reads: the runs of one or more studies with their checks and attempts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from mldevbench import frozen
from mldevbench.errors import UserError
from mldevbench.plan import plan
from mldevbench.records import AttemptRow, CheckRow, RegradeRow, Run, RunRow, SnapshotRow
from mldevbench.reference import PAPER, paper_rows
from mldevbench.report.scope import Scope, scope_of
from mldevbench.store.study_store import StudyStore, find_study


class OfRun(Protocol):
    @property
    def run_id(self) -> str: ...


Row = TypeVar("Row", bound=OfRun)


@dataclass(frozen=True)
class Evidence:
    scope: Scope
    checks: Mapping[str, Sequence[CheckRow]] = field(default_factory=dict)
    attempts: Mapping[str, Sequence[AttemptRow]] = field(default_factory=dict)
    regrades: Sequence[RegradeRow] = ()
    snapshots: Sequence[SnapshotRow] = ()

    @property
    def rows(self) -> tuple[RunRow, ...]:
        return self.scope.rows


@dataclass
class Gathered:
    rows: list[RunRow] = field(default_factory=list)
    planned: list[Run] = field(default_factory=list)
    checks: list[CheckRow] = field(default_factory=list)
    attempts: list[AttemptRow] = field(default_factory=list)
    regrades: list[RegradeRow] = field(default_factory=list)
    snapshots: list[SnapshotRow] = field(default_factory=list)

    def add(self, store: StudyStore) -> None:
        self.rows += store.runs.all()
        self.planned += plan(frozen.read_requests(store.place)).runs
        self.checks += store.checks.all()
        self.attempts += store.attempts.all()
        self.regrades += store.regrades.all()
        self.snapshots += store.snapshots.all()


def read_evidence(studies: Sequence[str], storage: str, partial: bool = False) -> Evidence:
    """Read the studies; `paper` is one too."""
    gathered = Gathered()
    for study in dict.fromkeys(studies):
        if study == PAPER:
            gathered.rows += paper_rows()
        else:
            gathered.add(find_study(study, storage))
    if not gathered.rows:
        raise UserError(f"{', '.join(studies)}: no run has a result yet; 'mldevbench status' shows what is owed")
    return evidence_of(studies, gathered, partial)


def evidence_of(studies: Sequence[str], gathered: Gathered, partial: bool) -> Evidence:
    rows = {(row.study, row.run_id): row for row in gathered.rows}
    scope = scope_of(studies, rows.values(), gathered.planned, partial)
    kept = {row.run_id for row in scope.rows}
    return Evidence(
        scope,
        by_run(gathered.checks, kept),
        by_run(gathered.attempts, kept),
        [row for row in gathered.regrades if row.run_id in kept],
        [row for row in gathered.snapshots if row.run_id in kept],
    )


def by_run(rows: Iterable[Row], kept: set[str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.run_id in kept:
            found[row.run_id].append(row)
    return dict(found)
