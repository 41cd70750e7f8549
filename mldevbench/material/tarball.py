"""A folder as one .tar.gz, the same bytes each time it is made."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

from mldevbench.digest import files_under


def pack_folder(folder: Path) -> bytes:
    """Return the archive of a folder's files; times, owners and the order on disk leave no trace."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        for path in files_under(folder):
            entry = tarfile.TarInfo(path.relative_to(folder).as_posix())
            entry.size = path.stat().st_size
            files.addfile(entry, io.BytesIO(path.read_bytes()))
    return gzip.compress(packed.getvalue(), compresslevel=1, mtime=0)
