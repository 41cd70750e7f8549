"""Prune: give disk back; rows and verdicts always stay."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from mldevbench.errors import UserError
from mldevbench.share.artifact import Artifact, Kind, artifacts
from mldevbench.store.lease import running
from mldevbench.store.study_store import StudyStore


@dataclass(frozen=True)
class Pruned:
    """What lies there by kind, and what of it goes: `superseded` are attempts that gave no outcome."""

    bytes_by_kind: dict[str, int]
    freed_bytes: int
    files: int
    ungradable: int  # runs that can't be validated again afterwards
    done: bool


def prune(store: StudyStore, kinds: Collection[Kind], superseded: bool, dry_run: bool) -> Pruned:
    """Remove artifacts of some kinds, or of superseded attempts; refuse while a driver runs."""
    holder = running(store.place)
    if holder and not dry_run:
        raise UserError(f"study {store.name!r} is being run by process {holder.pid} on {holder.host}; wait for it")
    last = {run_id: row.attempts for run_id, row in store.open().items()}
    found = artifacts(store.place)
    goes = [one for one in found if _goes(one, last, kinds, superseded)]
    sizes: dict[str, int] = {kind.value: 0 for kind in Kind} | {"superseded": 0}
    for one in found:
        sizes[one.kind] += one.size
        sizes["superseded"] += one.size if _superseded(one, last) else 0
    for one in () if dry_run else goes:
        store.place.remove(one.name)
    lost = {one.run_id for one in goes if one.kind is Kind.SUBMISSION and not _superseded(one, last)}
    return Pruned(sizes, sum(one.size for one in goes), len(goes), len(lost), bool(goes) and not dry_run)


def _superseded(artifact: Artifact, last: dict[str, int]) -> bool:
    # A run without a row may still be resumed from what it submitted.
    return artifact.run_id in last and artifact.attempt != last[artifact.run_id]


def _goes(artifact: Artifact, last: dict[str, int], kinds: Collection[Kind], superseded: bool) -> bool:
    if artifact.run_id not in last:
        return False
    return artifact.kind in kinds or (superseded and _superseded(artifact, last))
