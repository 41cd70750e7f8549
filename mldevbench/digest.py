"""Digests: one canonical form for records, one for folders."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

IGNORED = {"__pycache__", ".DS_Store"}


def canonical(value: Any) -> str:
    """Return the one JSON text of a value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def of_value(value: Any, length: int = 64) -> str:
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:length]


def of_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_under(folder: Path) -> Iterable[Path]:
    """Yield the files of a folder in a fixed order, without what Python and editors leave there."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not IGNORED.intersection(path.parts) and path.suffix != ".pyc":
            yield path


def of_tree(folder: Path) -> str:
    """Return the digest of names and contents below a folder; an absent folder is an empty one."""
    listing = [[path.relative_to(folder).as_posix(), of_file(path)] for path in files_under(folder)]
    return of_value(listing)
