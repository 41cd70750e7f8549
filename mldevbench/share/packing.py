"""Export: a study as one file, with no more in it than was asked for."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mldevbench import __version__
from mldevbench.digest import of_bytes, of_file
from mldevbench.errors import UserError
from mldevbench.records import AttemptRow, RunRow
from mldevbench.schema import table_of
from mldevbench.share.artifact import Artifact, Kind, artifacts
from mldevbench.share.package import MANIFEST, SALT, Manifest, add_bytes, write_manifest
from mldevbench.store.parts import Parts, part_name
from mldevbench.store.place import Place
from mldevbench.store.study_store import StudyStore


@dataclass(frozen=True)
class Wanted:
    """What goes along besides the rows and verdicts."""

    trajectories: bool = False
    submissions: bool = False
    hosts: bool = False
    salt: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in ("trajectories", "submissions", "hosts", "salt") if getattr(self, name))


def export(store: StudyStore, storage: Place, target: Path, wanted: Wanted) -> Manifest:
    """Write the study's finished runs to a file; it appears whole or not at all."""
    if target.exists():
        raise UserError(f"{target}: is there already; choose another file or remove it")
    rows = store.open()
    if not rows:
        raise UserError(f"{store.name}: no run has a result yet; there is nothing to export")
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f".{target.name}.part")
    try:
        with tarfile.open(aside, "w:gz" if target.suffix == ".gz" else "w") as tar:
            manifest = _fill(tar, store, storage, list(rows.values()), wanted)
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
    return manifest


def _fill(tar: tarfile.TarFile, store: StudyStore, storage: Place, rows: list[RunRow], wanted: Wanted) -> Manifest:
    files: dict[str, str] = {}

    def add(name: str, data: bytes) -> None:
        add_bytes(tar, name, data)
        files[name] = of_bytes(data)

    add("study.yaml", store.place.read("study.yaml"))
    hosts = {} if wanted.hosts else _aliases(rows, store.attempts.all())
    known = {row.run_id for row in rows}
    for dataset in _datasets(store, wanted):
        for number in dataset.numbers():
            kept = [_hidden(row, hosts) for row in dataset.rows(number) if getattr(row, "run_id", None) in known]
            if kept:
                add(f"{dataset.place.path.rsplit('/', 1)[-1]}/{part_name(number)}", _table(dataset.row, kept))
    for artifact in artifacts(store.place):
        if artifact.run_id in known and _goes_along(artifact, wanted):
            files[artifact.name] = _add_file(tar, store.place, artifact)
    if wanted.salt:
        add(SALT, _salt(storage, rows))
    manifest = Manifest(store.name, __version__, len(rows), rows[0].salt_digest, wanted.names, files)
    add_bytes(tar, MANIFEST, write_manifest(manifest))
    return manifest


def _datasets(store: StudyStore, wanted: Wanted) -> Sequence[Parts]:
    # Steps hold what agents did, so they go with the trajectories.
    return [store.runs, store.attempts, store.checks, store.regrades, *([store.steps] if wanted.trajectories else [])]


def _table(row: type[Any], rows: Sequence[object]) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table_of(row, rows), sink)
    return sink.getvalue().to_pybytes()


def _goes_along(artifact: Artifact, wanted: Wanted) -> bool:
    return {
        Kind.VERDICT: True,
        Kind.TRAJECTORY: wanted.trajectories,
        Kind.SUBMISSION: wanted.submissions,
        Kind.OTHER: False,
    }[artifact.kind]


def _aliases(rows: Iterable[RunRow], attempts: Iterable[AttemptRow]) -> dict[str, str]:
    """Name nodes by number, so that runs of one node can still be told."""
    nodes = sorted({row.node for row in (*rows, *attempts) if row.node})
    return {node: f"node-{number}" for number, node in enumerate(nodes, 1)}


def _hidden(row: object, hosts: dict[str, str]) -> object:
    if isinstance(row, RunRow):
        return replace(row, node=hosts.get(row.node or "", row.node))
    if isinstance(row, AttemptRow):
        detail = row.detail
        for host in sorted(hosts, key=len, reverse=True):
            detail = detail.replace(host, hosts[host])
        return replace(row, node=hosts.get(row.node or "", row.node), detail=detail)
    return row


def _add_file(tar: tarfile.TarFile, place: Place, artifact: Artifact) -> str:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        place.bring(artifact.name, copy)
        member = tarfile.TarInfo(artifact.name)
        member.size = copy.stat().st_size
        with copy.open("rb") as file:
            tar.addfile(member, file)
        return of_file(copy)


def _salt(storage: Place, rows: Sequence[RunRow]) -> bytes:
    from mldevbench.draw import salt_digest

    if not storage.has(".salt"):
        raise UserError(f"{storage.shown}: holds no salt; export without --salt")
    data = storage.read(".salt")
    if {row.salt_digest for row in rows} != {salt_digest(bytes.fromhex(data.decode().strip()))}:
        raise UserError(f"{storage.shown}: its salt is not the one of these runs; export without --salt")
    return data
