"""What lies in a study's `artifacts/`, by kind."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import cast

import pyarrow.fs as pafs

from mldevbench.store.place import Place


class Kind(StrEnum):
    VERDICT = "verdict"
    TRAJECTORY = "trajectory"
    SUBMISSION = "submission"
    OTHER = "other"


NAME = re.compile(
    r"artifacts/(?P<run_id>[0-9a-f]{16})/(?P<attempt>[0-9]{1,6})/(?P<file>[A-Za-z0-9][A-Za-z0-9._-]{0,99})"
)


@dataclass(frozen=True)
class Artifact:
    name: str  # relative to the study
    run_id: str
    attempt: int
    kind: Kind
    size: int


def artifact_of(name: str, size: int = 0) -> Artifact | None:
    """Read an artifact's name; None if it is no such name."""
    match = NAME.fullmatch(name)
    return Artifact(name, match["run_id"], int(match["attempt"]), _kind(match["file"]), size) if match else None


def _kind(file: str) -> Kind:
    if file == "verdict.json":
        return Kind.VERDICT
    if file.startswith("trajectory-"):
        return Kind.TRAJECTORY
    return Kind.SUBMISSION if file.startswith("submission") else Kind.OTHER


def artifacts(place: Place) -> list[Artifact]:
    """List a study's artifacts, in the order of their names."""
    selector = pafs.FileSelector(f"{place.path}/artifacts", recursive=True, allow_not_found=True)
    found = cast(Iterable[pafs.FileInfo], place.filesystem.get_file_info(selector))
    files = [(info.path[len(place.path) + 1 :], info.size or 0) for info in found if info.type is pafs.FileType.File]
    listed = [artifact_of(name, size) for name, size in sorted(files)]
    return [artifact for artifact in listed if artifact]
