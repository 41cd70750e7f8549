"""Freezes the declared files of a workspace into one archive with a manifest and a digest."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO

from mldevbench.digest import canonical, of_file
from mldevbench.errors import Fault
from mldevbench.submission.pattern import parse
from mldevbench.submission.record import MANIFEST_NAME, Entry, Manifest, Refused
from mldevbench.submission.walk import Found, Walk

MAX_FILES = 20_000
CHUNK = 1 << 20
BLOCK = tarfile.BLOCKSIZE


class Changed(Exception):
    """A file did not hold still or let itself be read."""


def collect(
    workspace: Path, patterns: Sequence[str], max_mb: float, archive: Path, *, witness: Sequence[str] = ()
) -> Manifest:
    """Write the declared files into an uncompressed tar, the manifest first.

    Call it when every process that could write to the workspace is dead. Of the files that `witness` matches
    (the protected ones) only the digest is kept. A file with several hard links is taken if all its names lie
    in the workspace: content is copied, never linked.
    """
    body_path, part = archive.with_name(f"{archive.name}.body"), archive.with_name(f"{archive.name}.part")
    try:
        with body_path.open("w+b") as body:
            manifest = take(workspace, patterns, int(max_mb * 1_000_000), body)
            manifest = replace(manifest, witnessed=digests(workspace, witness))
            with part.open("wb") as whole:
                write_archive(manifest, body, whole)
        part.replace(archive)
    except OSError as error:
        # What the workspace does to us ends as a refusal; this is our own disk.
        raise Fault("storage_error", f"the submission can't be written: {error}") from error
    finally:
        body_path.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
    return replace(manifest, digest=of_file(archive))


def take(workspace: Path, patterns: Sequence[str], max_bytes: int, body: BinaryIO) -> Manifest:
    """Copy the files that may be taken into tar members, within the limits."""
    walk, files, left = Walk(workspace), [], max_bytes
    for found in walk.find(parse(patterns)):
        size = found.status.st_size
        if size > left:
            walk.refuse(found.path, f"{size:,} bytes, with {left:,} of {max_bytes:,} left", limit=True)
        elif len(files) >= MAX_FILES:
            walk.refuse(found.path, f"more than {MAX_FILES:,} files", limit=True)
        elif entry := copy(found, body, walk):
            files.append(entry)
            left -= size
    return Manifest(tuple(files), tuple(listed(walk)))


def listed(walk: Walk) -> list[Refused]:
    if not walk.unlisted:
        return walk.refused
    return [*walk.refused, Refused("…", f"{walk.unlisted} more were refused", walk.over_limit)]


def copy(found: Found, body: BinaryIO, walk: Walk) -> Entry | None:
    """Append one file as a tar member; take it back if it changes meanwhile."""
    start = body.tell()
    body.write(member(found.path, found.status.st_size))
    try:
        sha256 = read_through(found, body.write)
    except Changed as changed:
        body.seek(start)
        body.truncate()
        walk.refuse(found.path, str(changed))
        return None
    body.write(b"\0" * (-found.status.st_size % BLOCK))
    return Entry(found.path, found.status.st_size, sha256)


def read_through(found: Found, write: Callable[[bytes], object]) -> str:
    """Pass a file's bytes on and return their digest."""
    digest, left = hashlib.sha256(), found.status.st_size
    while left:
        try:
            chunk = os.read(found.descriptor, min(CHUNK, left))
        except OSError as error:
            raise Changed(f"unreadable: {error.strerror}") from None
        if not chunk:
            break
        write(chunk)
        digest.update(chunk)
        left -= len(chunk)
    now = os.fstat(found.descriptor)
    before = found.status
    if left or (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise Changed("changed while it was read")
    return digest.hexdigest()


def digests(workspace: Path, patterns: Sequence[str]) -> tuple[Entry, ...]:
    """Return path, size and digest of the files that match, without their content."""
    walk, entries = Walk(workspace), []
    for found in walk.find(parse(patterns)) if patterns else ():
        try:
            entries.append(Entry(found.path, found.status.st_size, read_through(found, len)))
        except Changed:
            continue  # it then counts as missing
    return tuple(entries)


def member(path: str, size: int) -> bytes:
    """Return the tar header of a regular file that tells nothing but its name and size."""
    header = tarfile.TarInfo(path)
    header.size, header.mode = size, 0o644
    return header.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def write_archive(manifest: Manifest, body: BinaryIO, whole: BinaryIO) -> None:
    text = canonical(
        {
            "files": [asdict(entry) for entry in manifest.files],
            "refused": [asdict(refused) for refused in manifest.refused],
            "witnessed": [asdict(entry) for entry in manifest.witnessed],
        }
    ).encode()
    whole.write(member(MANIFEST_NAME, len(text)) + text + b"\0" * (-len(text) % BLOCK))
    body.seek(0)
    shutil.copyfileobj(body, whole, CHUNK)
    whole.write(b"\0" * (2 * BLOCK))
    whole.flush()
    os.fsync(whole.fileno())


def read_manifest(archive: Path) -> Manifest:
    """Return an archive's manifest without unpacking the rest."""
    with tarfile.open(archive, "r:") as tar:
        return parse_manifest(tar)


def parse_manifest(tar: tarfile.TarFile) -> Manifest:
    first = tar.next()
    file = tar.extractfile(first) if first and first.name == MANIFEST_NAME and first.isreg() else None
    if file is None:
        raise ValueError(f"the first member is not {MANIFEST_NAME}")
    content = json.load(io.TextIOWrapper(file, encoding="utf-8"))
    return Manifest(
        tuple(Entry(**entry) for entry in content["files"]),
        tuple(Refused(**refused) for refused in content["refused"]),
        tuple(Entry(**entry) for entry in content["witnessed"]),
    )
