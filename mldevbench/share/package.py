"""The file that a study is shared as: a tar of its rows and artifacts, with a manifest of what is in it."""

from __future__ import annotations

import io
import json
import re
import tarfile
from dataclasses import asdict, dataclass, field
from typing import Any

from mldevbench.errors import UserError

FORMAT = 1
MANIFEST = "manifest.json"
DATASETS = ("runs", "attempts", "checks", "regrades", "steps")
ROWS = re.compile(rf"({'|'.join(DATASETS)})/part-[0-9]{{5}}\.parquet")
SALT = "salt"


@dataclass(frozen=True)
class Manifest:
    """What a package holds; `files` are the digests of its members."""

    name: str
    mldevbench: str
    runs: int
    salt_digest: str
    holds: tuple[str, ...]  # of trajectories, submissions, hosts, salt
    files: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT


def write_manifest(manifest: Manifest) -> bytes:
    return json.dumps(asdict(manifest), indent=1).encode()


def read_manifest(data: bytes, where: str) -> Manifest:
    try:
        raw: dict[str, Any] = json.loads(data)
        manifest = Manifest(**{**raw, "holds": tuple(raw["holds"])})
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{where}: is no study that mldevbench exported") from None
    if manifest.format != FORMAT:
        raise UserError(f"{where}: has format {manifest.format}, this version reads {FORMAT}; update mldevbench")
    return manifest


def add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    """Add a member that says nothing of who made it, where or when."""
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))
