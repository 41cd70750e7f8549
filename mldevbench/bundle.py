"""Bundles: a plug-in's files as one archive, so that a node needs no checkout."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mldevbench.digest import files_under, of_bytes


@dataclass(frozen=True)
class Bundle:
    """Named parts of one folder; the folder's own name and its parent's travel along."""

    name: str
    parent: str
    digest: str
    data: bytes


def pack(folder: Path, parts: Sequence[str] = ()) -> Bundle:
    """Pack the named parts of a folder, or all of it."""
    chosen = [folder / part for part in parts] if parts else [folder]
    files = [path for part in chosen for path in (files_under(part) if part.is_dir() else [part]) if path.is_file()]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in sorted(files):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            content = path.read_bytes()
            entry.size, entry.mode = len(content), 0o755 if path.stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(content))
    data = buffer.getvalue()
    return Bundle(folder.name, folder.parent.name, of_bytes(data), data)


def unpack(bundle: Bundle, cache: Path) -> Path:
    """Return the bundle's folder below a cache, unpacked once whoever asks and however many at a time."""
    target = cache / "bundles" / bundle.digest[:24] / bundle.parent / bundle.name
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as aside:
        with tarfile.open(fileobj=io.BytesIO(bundle.data)) as archive:
            archive.extractall(Path(aside) / "it", filter="data")
        try:
            os.rename(Path(aside) / "it", target)  # noqa: PTH104 - Path.rename hides that a full target is an error
        except OSError:
            if not target.is_dir():
                raise
    return target
