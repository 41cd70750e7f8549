"""What of a study can be judged again: stored submissions, and snapshots, each distinct one once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count, islice

from mldevbench.catalog import Catalog
from mldevbench.draw import salt_digest
from mldevbench.errors import UserError
from mldevbench.records import Outcome, RunRow, Snapshot
from mldevbench.snapshot import stored_snapshots
from mldevbench.store.place import Place
from mldevbench.store.salt import read_salt
from mldevbench.store.study_store import StudyStore


@dataclass(frozen=True)
class Again:
    """A submission to judge once more."""

    row: RunRow
    archive: str
    digest: str
    attempt: int
    repeat: int


@dataclass(frozen=True)
class Ungraded:
    """Snapshots of one run that are byte for byte the same."""

    row: RunRow
    archive: str
    digest: str
    snapshots: tuple[Snapshot, ...]


@dataclass(frozen=True)
class Found:
    again: tuple[Again, ...]
    gone: int  # runs whose submission or task isn't there any more


def submissions(store: StudyStore, catalog: Catalog, everything: bool = False, repeats: int = 0) -> Found:
    """Return what today's validators haven't judged; `everything` once more; `repeats`: until each has so many.

    A void judgement counts as none: the next one takes its place.
    """
    again: list[Again] = []
    gone = 0
    rows, tried = store.open(), store.attempts_by_run()
    done: dict[tuple[str, str], set[int]] = defaultdict(set)
    for regraded in (one for one in store.regrades.all() if one.outcome is not Outcome.VOID):
        done[regraded.run_id, regraded.validator_digest].add(regraded.repeat)
    for row in (row for row in rows.values() if row.outcome is not Outcome.VOID):
        kept = [one for one in tried.get(row.run_id, ()) if one.archive and store.place.has(one.archive)]
        if row.task not in catalog.task_folders or not kept:
            gone += 1
            continue
        digest = catalog.task(row.task).validator_digest()
        have = done[row.run_id, digest]
        wanted = repeats or (len(have) + 1 if everything else int(row.validator_digest != digest))
        free = (number for number in count() if number not in have)
        last = kept[-1]
        again += [
            Again(row, last.archive or "", last.digest or "", last.attempt, number)
            for number in islice(free, max(0, wanted - len(have)))
        ]
    return Found(tuple(again), gone)


def ungraded(store: StudyStore, catalog: Catalog) -> list[Ungraded]:
    """Return the snapshots of finished runs that have no verdict by the validators of today; a void one is none."""
    rows = store.open()
    graded = {
        (one.run_id, one.number, one.validator_digest)
        for one in store.snapshots.all()
        if one.outcome is not Outcome.VOID
    }
    found: list[Ungraded] = []
    for row in rows.values():
        if row.outcome is Outcome.VOID or row.task not in catalog.task_folders:
            continue
        digest = catalog.task(row.task).validator_digest()
        folder = f"artifacts/{row.run_id}/{row.attempts}"
        same: dict[str, list[Snapshot]] = defaultdict(list)
        for snapshot in stored_snapshots(store.place.child(folder)):
            if (row.run_id, snapshot.number, digest) not in graded:
                same[snapshot.digest].append(snapshot)
        for content, snapshots in same.items():
            found.append(Ungraded(row, f"{folder}/{snapshots[0].archive}", content, tuple(snapshots)))
    return found


def salt_of(store: StudyStore, rows: Iterable[RunRow]) -> bytes:
    """Return the salt that the instances were drawn with: the study's own if it travelled along, else the storage's."""
    wanted = {row.salt_digest for row in rows}
    above = Place(store.place.filesystem, store.place.path.rpartition("/")[0], "the storage", store.place.top)
    for place in (store.place, above):
        if place.has(".salt") and wanted == {salt_digest(read_salt(place))}:
            return read_salt(place)
    raise UserError("the salt that these instances were drawn with isn't here; import the study with its salt")
