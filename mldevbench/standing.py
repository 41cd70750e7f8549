"""Where a study stands, read from its folder and compared with what the catalogue says now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mldevbench import frozen, task_venv
from mldevbench.catalog import Catalog
from mldevbench.errors import UserError
from mldevbench.plan import plan
from mldevbench.records import Outcome, RunRow
from mldevbench.store.lease import running
from mldevbench.store.study_store import StudyStore
from mldevbench.study import Request


@dataclass(frozen=True)
class Standing:
    study: str
    planned: int
    done: int
    passed: int
    failed: int
    void: int
    owed: int
    running: int
    spent_usd: float | None
    spent_gpu_hours: float
    driver: str | None
    labels: dict[str, dict[str, int]]
    regrade: list[str]
    changed: list[str]


def standing_of(store: StudyStore, roots: Sequence[Path] = ()) -> Standing:
    requests = frozen.read_requests(store.place)
    rows = store.open()
    planned = plan(requests).runs
    counts = Counter(row.outcome for row in rows.values())
    holder = running(store.place)
    open_attempts = [row for row in store.attempts.all() if row.phase in ("started", "submitted")] if holder else []
    costs = [row.spent_usd for row in rows.values()]
    done = counts[Outcome.PASSED] + counts[Outcome.FAILED]
    regrade, changed = _changes(requests, list(rows.values()), Catalog.of(roots))
    return Standing(
        study=store.name,
        planned=len(planned),
        done=done,
        passed=counts[Outcome.PASSED],
        failed=counts[Outcome.FAILED],
        void=counts[Outcome.VOID],
        owed=len(planned) - done,
        running=len({row.run_id for row in open_attempts}),
        spent_usd=None if None in costs else sum(cost or 0.0 for cost in costs),
        spent_gpu_hours=sum(row.spent_gpu_seconds for row in rows.values()) / 3600,
        driver=f"process {holder.pid} on {holder.host}" if holder else None,
        labels=_labels(list(rows.values())),
        regrade=regrade,
        changed=changed,
    )


def _labels(rows: Sequence[RunRow]) -> dict[str, dict[str, int]]:
    labels: dict[str, dict[str, int]] = {}
    for row in sorted(rows, key=lambda row: row.label):
        numbers = labels.setdefault(row.label, {"passed": 0, "done": 0, "void": 0})
        numbers["passed"] += row.outcome is Outcome.PASSED
        numbers["done"] += row.outcome is not Outcome.VOID
        numbers["void"] += row.outcome is Outcome.VOID
    return labels


def _changes(requests: Sequence[Request], rows: Sequence[RunRow], catalog: Catalog) -> tuple[list[str], list[str]]:
    """Name the tasks whose validator changed since they were judged, and what would make new runs."""
    regrade: set[str] = set()
    changed: set[str] = set()
    now: dict[str, str] = {}
    for name in {row.task for row in rows} & set(catalog.task_folders):
        try:
            now[name] = catalog.task(name).validator_digest()
        except UserError:
            changed.add(name)
    regrade |= {row.task for row in rows if row.task in now and row.validator_digest != now[row.task]}
    for last in requests[-1:]:
        for ref in last.tasks:
            if ref.id in now and catalog.task(ref.id).task_digest(last.profile, task_venv.lock()) != ref.task_digest:
                changed.add(ref.id)
        for spec in last.agents:
            if spec.agent in catalog.agent_folders and catalog.agent(spec.agent).digest() != spec.digest:
                changed.add(spec.agent)
    return sorted(regrade), sorted(changed)
