"""What a submission says of itself: the manifest in its archive and the files that validators get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mldevbench.submission.pattern import literal, matches
from mldevbench.unmet import Unmet

MANIFEST_NAME = ".manifest.json"


@dataclass(frozen=True)
class Entry:
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Refused:
    """A declared path that was not taken along, and why; `limit`: it was too much rather than odd."""

    path: str
    reason: str
    limit: bool = False


@dataclass(frozen=True)
class Manifest:
    """All that was found: taken files, refused paths, and files of which only the digest was wanted."""

    files: tuple[Entry, ...]
    refused: tuple[Refused, ...] = ()
    witnessed: tuple[Entry, ...] = ()
    digest: str = ""  # of the archive

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.files)


@dataclass(frozen=True)
class Submission:
    """The unpacked snapshot that validators read; the folder is ours and holds regular files only."""

    folder: Path
    files: dict[str, Entry]
    refused: tuple[Refused, ...] = ()
    witnessed: dict[str, Entry] = field(default_factory=dict)

    def has(self, path: str) -> bool:
        return path in self.files

    def path(self, path: str) -> Path:
        """Return where a submitted file lies; its content is the submission's own."""
        if path not in self.files:
            raise Unmet(path, f"a file {path}", self.why_not(path))
        return self.folder / path

    def bytes(self, path: str, max_kb: float = 256) -> bytes:
        """Return a small file whole."""
        place = self.path(path)
        size = self.files[path].size
        if size > max_kb * 1024:
            raise Unmet(path, f"{path} of at most {max_kb:g} kB", f"{size / 1024:.1f} kB")
        return place.read_bytes()

    def matching(self, pattern: str) -> list[str]:
        return sorted(path for path in self.files if matches(path, [pattern]))

    def why_not(self, path: str) -> str:
        """Say why a path is not there."""
        for refused in self.refused:
            if path == refused.path or path.startswith(f"{refused.path}/"):
                return f"{refused.path} was refused: {refused.reason}"
        return f"there is no file {path} among the submitted ones"


def refusals_that_matter(refused: Sequence[Refused], patterns: Sequence[str]) -> list[Refused]:
    """Return the refusals on which a declared path depends, and all that broke a limit."""
    literals = [literal(pattern) for pattern in patterns]
    return [
        one
        for one in refused
        if one.limit or any(path == one.path or path.startswith(f"{one.path}/") for path in literals)
    ]
