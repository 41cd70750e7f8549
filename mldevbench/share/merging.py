"""Merge: several studies as one, by run id; two results that contradict each other are refused."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mldevbench import frozen
from mldevbench.errors import UserError
from mldevbench.records import Outcome, RunRow
from mldevbench.share.artifact import artifacts
from mldevbench.store.parts import Parts
from mldevbench.store.place import Place, open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.study import Request


@dataclass(frozen=True)
class Merged:
    name: str
    runs: int
    taken: dict[str, int]  # by study: how many of its runs


def merge(sources: Sequence[StudyStore], target: StudyStore) -> Merged:
    """Unite studies in a new one; each run keeps the name of the study it comes from."""
    if target.has_request():
        raise UserError(f"study {target.name!r} is there already; choose another --name")
    chosen = choose(sources)
    requests = [request for source in sources for request in frozen.read_requests(source.place)]
    _check_together(target.name, requests)
    for source in sources:
        _copy(source, target, {run_id for run_id, owner in chosen.items() if owner is source})
    for request in requests:  # the request last: only then is it a study
        frozen.add_request(target.place, target.name, request)
    taken = {source.name: sum(owner is source for owner in chosen.values()) for source in sources}
    return Merged(target.name, len(chosen), taken)


def _check_together(name: str, requests: Sequence[Request]) -> None:
    """Freeze the requests in a place that is thrown away: what can't stand together is refused before the copy."""
    with tempfile.TemporaryDirectory() as folder:
        for request in requests:
            frozen.add_request(open_place(folder), name, request)


def choose(sources: Sequence[StudyStore]) -> dict[str, StudyStore]:
    """Return whose row each run takes: a judged one before a void one, the first of equal ones."""
    rows: dict[str, RunRow] = {}
    owner: dict[str, StudyStore] = {}
    conflicts = []
    for source in sources:
        for run_id, row in source.open().items():
            known = rows.get(run_id)
            if known is None or (known.outcome is Outcome.VOID and row.outcome is not Outcome.VOID):
                rows[run_id], owner[run_id] = row, source
            elif row.outcome is not Outcome.VOID and not _same(known, row):
                conflicts.append(f"{run_id} ({known.outcome} in {owner[run_id].name}, {row.outcome} in {source.name})")
    if conflicts:
        more = f" and {len(conflicts) - 3} more" if len(conflicts) > 3 else ""
        raise UserError(f"the studies contradict each other on run {', '.join(conflicts[:3])}{more}; leave one out")
    return owner


def _same(one: RunRow, other: RunRow) -> bool:
    """Whether two rows are copies of one result; where it ran may have been hidden."""
    return replace(one, study="", node=None) == replace(other, study="", node=None)


def _copy(source: StudyStore, target: StudyStore, run_ids: set[str]) -> None:
    for artifact in artifacts(source.place):
        if artifact.run_id in run_ids:
            _copy_file(source.place, target.place, artifact.name)
    for name in ("attempts", "checks", "regrades", "steps", "runs"):
        before: Parts = getattr(source, name)
        _put(getattr(target, name), target, (row for row in before.all() if row.run_id in run_ids))


def _put(dataset: Parts, target: StudyStore, rows: Iterable[RunRow]) -> None:
    """Write rows part by part, each part once."""
    parts: dict[int, list[RunRow]] = {}
    for row in rows:
        parts.setdefault(target.part_of(row.run_id), []).append(row)
    for number, listed in parts.items():
        dataset.put(number, listed)


def _copy_file(source: Place, target: Place, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        source.bring(name, copy)
        target.take(name, copy)
