"""Bundles: a plug-in's files as one archive, so that a node needs no checkout."""

from __future__ import annotations

import io
import os
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mldevbench.digest import files_under, of_bytes


@dataclass(frozen=True)
class Bundle:
    """Named parts of one folder; the folder's own name and its parent's travel along."""

    name: str
    parent: str
    digest: str
    data: bytes


def pack(parts: Mapping[str, Path], name: str, parent: str = "") -> Bundle:
    """Pack files and folders under the names they are to have; what isn't there is left out."""
    files = {name: path for part, source in parts.items() for name, path in _files(part, source)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for target, path in sorted(files.items()):
            entry = tarfile.TarInfo(target)
            content = path.read_bytes()
            entry.size, entry.mode = len(content), 0o755 if path.stat().st_mode & 0o100 else 0o644
            archive.addfile(entry, io.BytesIO(content))
    data = buffer.getvalue()
    return Bundle(name, parent or name, of_bytes(data), data)


def _files(part: str, source: Path) -> Iterator[tuple[str, Path]]:
    if source.is_file():
        yield part, source
    for path in files_under(source) if source.is_dir() else ():
        yield f"{part}/{path.relative_to(source).as_posix()}", path


def unpack(bundle: Bundle, below: Path) -> Path:
    """Return the bundle's folder below a cache's, unpacked once whoever asks and however many at a time."""
    target = below / "bundles" / bundle.digest[:24] / bundle.parent / bundle.name
    if target.is_dir() and _whole(target, bundle.digest):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as aside:
        with tarfile.open(fileobj=io.BytesIO(bundle.data)) as archive:
            archive.extractall(Path(aside) / "it", filter="data")
        with suppress(OSError):  # a damaged one makes place; another process may have done so already
            os.rename(target, Path(aside) / "damaged")  # noqa: PTH104 - as below
        try:
            os.rename(Path(aside) / "it", target)  # noqa: PTH104 - Path.rename hides that a full target is an error
        except OSError:
            if not target.is_dir():
                raise
    _whole.cache_clear()  # what was damaged is mended now
    return target


@cache
def _whole(folder: Path, digest: str) -> bool:
    """Whether a folder still is what was unpacked there; looked at once by each process."""
    return pack({part.name: part for part in folder.iterdir()}, folder.name).digest == digest
