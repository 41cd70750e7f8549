"""What a mirror holds: the files that a task laid out, found by address, and the hub's repositories among them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from mldevbench.digest import files_under, of_file, of_value
from mldevbench.mirror.route import Fault

HUB = "hub"  # below it: models/OWNER/NAME/… and datasets/OWNER/NAME/…, which are found by the hub's paths only
KINDS = ("models", "datasets")
LARGE = 10 << 20  # from here on the hub itself would keep a file apart, by its sha256


@dataclass(frozen=True)
class Item:
    """One file; its digest is worked out when somebody asks for it."""

    path: Path

    @cached_property
    def size(self) -> int:
        return self.path.stat().st_size

    @cached_property
    def sha256(self) -> str:
        return of_file(self.path)

    @cached_property
    def oid(self) -> str:
        """Name the content as git does."""
        made = hashlib.sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
        with self.path.open("rb") as file:
            while chunk := file.read(1 << 20):
                made.update(chunk)
        return made.hexdigest()


@dataclass(frozen=True)
class Repository:
    """A model or a data set in the hub's form, of one revision."""

    kind: str
    name: str
    files: Mapping[str, Item]

    @cached_property
    def commit(self) -> str:
        return of_value([self.kind, self.name, {name: item.sha256 for name, item in self.files.items()}], 40)

    def has(self, revision: str) -> bool:
        return revision in ("main", "refs/heads/main", self.commit)


@dataclass
class Shelf:
    """Everything that one mirror serves; what isn't here doesn't exist."""

    files: Mapping[str, Item] = field(default_factory=dict)
    repositories: Mapping[tuple[str, str], Repository] = field(default_factory=dict)
    faults: Mapping[str, Fault] = field(default_factory=dict)
    _used: dict[str, int] = field(default_factory=dict)

    def fault(self, path: str) -> Fault | None:
        """Return what goes wrong at an address this time."""
        found = self.faults.get(path)
        if found is None:
            return None
        self._used[path] = self._used.get(path, 0) + 1
        return found if found.times is None or self._used[path] <= found.times else None


def shelve(folder: Path, faults: Iterable[Fault] = ()) -> Shelf:
    """Index a folder once; later requests only look up names, so no path leads out of it."""
    files: dict[str, Item] = {}
    parts: dict[tuple[str, str], dict[str, Item]] = {}
    for path in files_under(folder):
        name = path.relative_to(folder).as_posix()
        top, *rest = name.split("/")
        if top == HUB and len(rest) >= 3 and rest[0] in KINDS:
            repository, inner = _split(folder / HUB / rest[0], rest[1:])
            parts.setdefault((rest[0], repository), {})[inner] = Item(path)
        else:
            files[name] = Item(path)
    repositories = {key: Repository(*key, held) for key, held in parts.items()}
    return Shelf(files, repositories, {fault.path: fault for fault in faults})


def _split(kind: Path, words: list[str]) -> tuple[str, str]:
    """Part a repository's name from a file's: a name has an owner unless files lie right in the first folder."""
    alone = any(path.is_file() for path in (kind / words[0]).iterdir())
    depth = 1 if alone else 2
    return "/".join(words[:depth]), "/".join(words[depth:])
