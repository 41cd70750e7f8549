"""One run of a study by the first digits of its id: what was asked, what came of it, what was tried."""

from __future__ import annotations

from dataclasses import dataclass

from mldevbench import frozen
from mldevbench.errors import UserError, unknown
from mldevbench.plan import plan
from mldevbench.records import AttemptRow, Run, RunRow
from mldevbench.store.study_store import StudyStore


@dataclass(frozen=True)
class Found:
    run_id: str
    run: Run | None  # None: no request of this study asks for it any more
    row: RunRow | None
    attempts: tuple[AttemptRow, ...]


def find_run(store: StudyStore, digits: str) -> Found:
    rows = store.open()
    planned = {run.run_id: run for run in plan(frozen.read_requests(store.place)).runs}
    known = list(dict.fromkeys([*rows, *planned]))
    matching = [run_id for run_id in known if run_id.startswith(digits)]
    if len(matching) > 1:
        raise UserError(f"run {digits!r} fits {len(matching)} runs; give more of its digits")
    if not matching:
        raise unknown("run", digits, known)
    (run_id,) = matching
    return Found(run_id, planned.get(run_id), rows.get(run_id), tuple(store.attempts_of(run_id)))
