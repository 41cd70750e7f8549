"""The stored files of a run: their list, their content, and what a submission holds."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import pyarrow.fs as pafs

from mldevbench.store.place import Place
from mldevbench.submission.archive import parse_manifest

MOST = 2_000  # files listed
HEAD = 16 << 20  # bytes of an archive that may hold its manifest


@dataclass(frozen=True)
class Artifact:
    attempt: int
    name: str
    bytes: int
    inside: str = ""  # the archive that holds it


def artifacts_of(study: Place, run_id: str) -> list[Artifact]:
    """Return the files of all attempts, each archive followed by what it holds."""
    root = study.child(f"artifacts/{run_id}")
    selector = pafs.FileSelector(root.path, allow_not_found=True, recursive=True)
    found: list[Artifact] = []
    infos = cast(Iterable[pafs.FileInfo], root.filesystem.get_file_info(selector))
    for info in sorted(infos, key=lambda info: info.path)[:MOST]:
        attempt, _, name = info.path[len(root.path) + 1 :].partition("/")
        if info.is_file and name and attempt.isdecimal():
            artifact = Artifact(int(attempt), name, info.size or 0)
            found.append(artifact)
            found += _held(root, artifact) if name == "submission.tar" else []
    return found[:MOST]


def _held(root: Place, archive: Artifact) -> list[Artifact]:
    try:
        with root.filesystem.open_input_stream(f"{root.path}/{archive.attempt}/{archive.name}") as stream:
            head = cast(bytes, stream.read(HEAD))
        with tarfile.open(fileobj=io.BytesIO(head), mode="r:") as tar:
            manifest = parse_manifest(tar)
    except (OSError, ValueError, TypeError, KeyError, tarfile.TarError):
        return []
    return [Artifact(archive.attempt, entry.path, entry.size, archive.name) for entry in manifest.files]


def find_artifact(study: Place, run_id: str, attempt: int, name: str) -> Artifact | None:
    """Return a file that is really listed; a name is never joined to a path before that."""
    return next(
        (one for one in artifacts_of(study, run_id) if not one.inside and (one.attempt, one.name) == (attempt, name)),
        None,
    )


def content(study: Place, run_id: str, artifact: Artifact) -> Iterator[bytes]:
    path = f"{study.path}/artifacts/{run_id}/{artifact.attempt}/{artifact.name}"
    with study.filesystem.open_input_stream(path) as stream:
        while chunk := cast(bytes, stream.read(1 << 20)):
            yield chunk
