"""Opens a submission's archive for validation: digest first, then every member against the manifest."""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

from mldevbench.digest import of_file
from mldevbench.errors import Fault
from mldevbench.submission.archive import CHUNK, parse_manifest
from mldevbench.submission.record import Entry, Manifest, Submission

NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def open_submission(archive: Path, digest: str, folder: Path) -> Submission:
    """Verify an archive and unpack it into an empty folder of ours; damage is a storage error."""
    try:
        if of_file(archive) != digest:
            raise ValueError("its digest is not the recorded one")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise ValueError("the folder to unpack into is not empty")
        with tarfile.open(archive, "r:") as tar:
            manifest = parse_manifest(tar)
            unpack(tar, manifest, folder)
    except (OSError, ValueError, KeyError, TypeError, tarfile.TarError) as error:
        raise Fault("storage_error", f"submission {archive.name} can't be opened: {error}") from error
    files = {entry.path: entry for entry in manifest.files}
    witnessed = {entry.path: entry for entry in manifest.witnessed}
    return Submission(folder, files, manifest.refused, witnessed)


def unpack(tar: tarfile.TarFile, manifest: Manifest, folder: Path) -> None:
    for entry in manifest.files:
        found = tar.next()
        if found is None or not found.isreg() or (found.name, found.size) != (entry.path, entry.size):
            raise ValueError(f"member {entry.path!r} is not what the manifest says")
        source = tar.extractfile(found)
        assert source is not None, "a regular file has content"
        unpack_file(source, entry, folder)
    if tar.next() is not None:
        raise ValueError("it has members that the manifest doesn't know")


def unpack_file(source: IO[bytes], entry: Entry, folder: Path) -> None:
    parts = PurePosixPath(entry.path)
    if parts.is_absolute() or ".." in parts.parts or str(parts) != entry.path:
        raise ValueError(f"member {entry.path!r} has a name that leads elsewhere")
    place = folder / parts
    place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with os.fdopen(os.open(place, NEW_FILE, 0o644), "wb") as target:
        while chunk := source.read(CHUNK):
            digest.update(chunk)
            target.write(chunk)
    if digest.hexdigest() != entry.sha256:
        raise ValueError(f"member {entry.path!r} has another digest than the manifest says")
