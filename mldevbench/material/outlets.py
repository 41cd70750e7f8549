"""Four data sets at four addresses, some of which are dead, each in its own way."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass

import numpy as np

from mldevbench.mirror import Fault, cut, fails

SUBJECTS = ("rivers", "moths", "tides", "lichens", "glaciers", "owls", "comets", "ferns", "dunes", "otters")
FINE, BUSY, CUT, DAMAGED = "fine", "busy", "cut", "damaged"
ERRORS = ("403", "404", "410", "500")
FATES = (FINE, BUSY, *ERRORS, CUT, DAMAGED)
ALIVE = (FINE, BUSY)
WORDS = {"403": "not for you", "404": "no such data set", "410": "withdrawn by its authors", "500": "internal error"}
BUSY_TIMES = 2


@dataclass(frozen=True)
class Outlet:
    """A data set, and what becomes of a request for it."""

    name: str
    fate: str
    files: dict[str, bytes]
    token: str  # what only somebody who asked can know of the error
    kept: int  # bytes that come before the line is cut, or that are left of a damaged archive

    @property
    def path(self) -> str:
        return f"datasets/{self.name}.tar"

    @property
    def alive(self) -> bool:
        return self.fate in ALIVE

    @property
    def archive(self) -> bytes:
        """Return the whole archive; no compression, so that every machine makes the same bytes."""
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            for name, content in self.files.items():
                member = tarfile.TarInfo(f"{self.name}/{name}")
                member.size, member.mode = len(content), 0o644
                archive.addfile(member, io.BytesIO(content))
        return made.getvalue()

    @property
    def served(self) -> bytes:
        return self.archive[: self.kept] if self.fate == DAMAGED else self.archive

    @property
    def checksum(self) -> str:
        """Return what is published beside the archive: of the whole one, whatever is served."""
        return hashlib.sha256(self.archive).hexdigest()

    @property
    def evidence(self) -> str:
        """Return what a report of a dead address must quote."""
        if self.fate == CUT:
            return str(self.kept)
        return hashlib.sha256(self.served).hexdigest() if self.fate == DAMAGED else self.token

    def faults(self) -> list[Fault]:
        if self.fate in ERRORS:
            body = {"error": WORDS[self.fate], "incident": self.token}
            return [fails(self.path, int(self.fate), json.dumps(body) + "\n")]
        if self.fate == BUSY:
            return [fails(self.path, 503, json.dumps({"error": "busy, ask again"}) + "\n", times=BUSY_TIMES)]
        return [cut(self.path, self.kept)] if self.fate == CUT else []


def draw_outlets(rng: np.random.Generator, files: int, rows: int, count: int = 4) -> list[Outlet]:
    """Draw independent fates until at least one address is alive and one is dead."""
    fates = rng.choice(FATES, count)
    while len({str(fate) in ALIVE for fate in fates}) < 2:
        fates = rng.choice(FATES, count)
    subjects = rng.choice(SUBJECTS, count, replace=False)
    return [
        _outlet(rng, f"{subject}-{rng.integers(16**6):06x}", str(fate), files, rows)
        for subject, fate in zip(subjects, fates, strict=True)
    ]


def _outlet(rng: np.random.Generator, name: str, fate: str, files: int, rows: int) -> Outlet:
    parts = {f"part-{number:02d}.csv": _table(rng, rows) for number in range(int(rng.integers(2, files + 1)))}
    smallest = sum(map(len, parts.values()))
    return Outlet(name, fate, parts, rng.bytes(8).hex(), int(rng.integers(smallest // 4, smallest * 3 // 4)))


def _table(rng: np.random.Generator, rows: int) -> bytes:
    values = rng.integers(0, 10_000, (rows, 4))
    lines = [f"{a},{b},{c / 100:.2f},{d % 5}" for a, b, c, d in values.tolist()]
    return ("\n".join(["site,day,value,label", *lines]) + "\n").encode()
