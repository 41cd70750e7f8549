"""The cache by content: a file is in it whole and right, or not at all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from mldevbench.cache import cache_folder
from mldevbench.digest import of_file


@dataclass(frozen=True)
class Keep:
    """A folder of files named by their SHA-256; several machines may share it."""

    folder: Path

    def place(self, sha256: str) -> Path:
        return self.folder / "content" / sha256[:2] / sha256

    def part(self, sha256: str) -> Path:
        """Where a download grows until it is verified."""
        return self.folder / "parts" / sha256

    def lock(self, sha256: str) -> Path:
        return self.folder / "locks" / sha256

    def has(self, sha256: str, size: int) -> bool:
        """Say whether a file is there; only what was verified ever gets there."""
        try:
            return self.place(sha256).stat().st_size == size
        except OSError:
            return False

    def accept(self, sha256: str) -> None:
        """Verify what was downloaded and move it in; raise if it isn't what was declared."""
        part = self.part(sha256)
        found = of_file(part)
        if found != sha256:
            part.unlink()
            raise ValueError(f"its SHA-256 is {found[:12]}…, not {sha256[:12]}…")
        place = self.place(sha256)
        place.parent.mkdir(parents=True, exist_ok=True)
        part.chmod(0o444)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(place)

    def right(self, sha256: str) -> bool:
        """Read a kept file again; one that has gone bad is thrown away."""
        place = self.place(sha256)
        if not place.is_file():
            return False
        if of_file(place) == sha256:
            return True
        place.unlink()
        return False


def default_keep() -> Keep:
    return Keep(cache_folder() / "assets")
