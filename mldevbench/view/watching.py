"""A study as it stands: parts that changed are read again, the rest is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar, cast

import pyarrow.fs as pafs

from mldevbench.store.parts import Parts
from mldevbench.store.place import Place

Row = TypeVar("Row")
Stamp = tuple[int, int]


def stamps(place: Place) -> dict[str, Stamp]:
    """Return size and time of change of each file in a folder."""
    selector = pafs.FileSelector(place.path, allow_not_found=True)
    found = cast(Iterable[pafs.FileInfo], place.filesystem.get_file_info(selector))
    return {info.base_name: (info.size or 0, info.mtime_ns or 0) for info in found}


class Watched(Generic[Row]):
    """One dataset, read again part by part as it changes."""

    def __init__(self, parts: Parts[Row]) -> None:
        self.parts = parts
        self.stamps: dict[str, Stamp] = {}
        self._rows: dict[str, list[Row]] = {}

    def look(self) -> bool:
        """Read what changed; say whether anything did."""
        now = {name: stamp for name, stamp in stamps(self.parts.place).items() if name.startswith("part-")}
        changed = [name for name, stamp in now.items() if self.stamps.get(name) != stamp]
        gone = self.stamps.keys() - now.keys()
        for name in changed:
            self._rows[name] = self.parts.rows(int(name[5:10]))
        for name in gone:
            del self._rows[name]
        self.stamps = now
        return bool(changed or gone)

    @property
    def rows(self) -> list[Row]:
        return [row for name in sorted(self._rows) for row in self._rows[name]]
