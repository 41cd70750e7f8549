"""Snapshots of a submission while the agent works: when one is due, and how it is taken.

A snapshot is a copy: the sandbox is frozen while the files are read, and nothing that the agent can still write
is ever linked. It is packed and stored while the agent goes on, so a slow storage costs the run nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import BinaryIO

from mldevbench.digest import of_file
from mldevbench.errors import Fault, UserError
from mldevbench.model.budget import BudgetMeter
from mldevbench.records import Budget, Snapshot
from mldevbench.sandbox.protocol import Sandbox
from mldevbench.store.place import Place
from mldevbench.submission import Manifest
from mldevbench.submission.archive import digests, take, write_archive

UNITS = ("steps", "minutes", "tokens", "usd")
HALVINGS = 6  # a log-spaced grid reaches down to a 64th of the budget
BETWEEN = 4  # points per halving where the unit can't be met exactly
LIST_NAME = "snapshots.json"
LOOK_SECONDS = 0.5
LAST = 19  # the lowest priority there is


@dataclass(frozen=True)
class Grid:
    """When snapshots are due: every so much of a unit, or at the halvings of the budget."""

    unit: str
    every: float | None  # None: log-spaced

    def check(self, budget: Budget) -> None:
        if self.every is None and getattr(budget, self.unit) is None:
            raise UserError(f"--snapshot-every {self.unit}=log: the budget has no bound in {self.unit}; add one")

    def points(self, budget: Budget) -> list[float]:
        """Return the amounts at which a snapshot is due, of a log-spaced grid."""
        self.check(budget)
        whole = getattr(budget, self.unit)
        if self.unit == "steps":
            return sorted({float(int(whole / 2**power)) for power in range(HALVINGS + 1) if whole / 2**power >= 1})
        parts = HALVINGS * BETWEEN
        return [whole / 2 ** (place / BETWEEN) for place in range(parts, -1, -1)]

    def due(self, spent: float, last: float, budget: Budget) -> bool:
        """Whether a point lies after what was spent at the last snapshot, up to what is spent now."""
        if self.every is not None:
            return spent // self.every > last // self.every
        return any(last < point <= spent for point in self.points(budget))


def parse_grid(text: str) -> Grid:
    """Read `steps=5`, `minutes=10`, `tokens=log` or plain `log`, which means steps."""
    unit, equals, amount = text.partition("=") if text != "log" else ("steps", "=", "log")
    if unit not in UNITS or not equals:
        raise UserError(f"--snapshot-every {text!r}: write log, or one of {', '.join(UNITS)} such as steps=5")
    if amount == "log":
        return Grid(unit, None)
    with suppress(ValueError):
        if float(amount) > 0:
            return Grid(unit, float(amount))
    raise UserError(f"--snapshot-every {text!r}: {amount!r} is neither log nor a number above 0")


def gather(
    workspace: Path, patterns: Sequence[str], max_mb: float, body: BinaryIO, *, witness: Sequence[str] = ()
) -> Manifest:
    """Copy the declared files: the part of `collect` for which everything has to stand still."""
    manifest = take(workspace, patterns, int(max_mb * 1_000_000), body)
    return replace(manifest, witnessed=digests(workspace, witness))


class Snapshots:
    """Takes the snapshots of one attempt; what is the same as the one before is kept once."""

    def __init__(self, grid: Grid, meter: BudgetMeter, place: Place, scratch: Path) -> None:
        self.grid = grid
        self.meter = meter
        self.place = place  # the attempt's own folder
        self.scratch = scratch
        self.taken: list[Snapshot] = []
        self._last = 0.0
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._clock: threading.Thread | None = None
        self._storing: threading.Thread | None = None
        self._sandbox: Sandbox | None = None
        self._gather: Callable[[BinaryIO], Manifest] | None = None

    def watch(self, sandbox: Sandbox, gather: Callable[[BinaryIO], Manifest]) -> None:
        """Begin; minutes pass without calls too, so they are looked at by a clock."""
        self._sandbox, self._gather = sandbox, gather
        if self.grid.unit == "minutes":
            self._clock = threading.Thread(target=self._tick, name="snapshots", daemon=True)
            self._clock.start()

    def look(self) -> None:
        """Take a snapshot if one is due; called between an agent's steps, and never harmful to it."""
        with self._lock:
            spent = self._spent()
            if self._over.is_set() or spent is None or not self.grid.due(spent, self._last, self.meter.budget):
                return
            with self.meter.waiting(), suppress(Fault):
                self._take()
            self._last = spent

    def close(self) -> None:
        self._over.set()
        if self._clock:
            self._clock.join()
        with self._lock:  # a snapshot may just be taken
            self.settle()

    def settle(self) -> None:
        """Wait until what was taken is stored."""
        if self._storing:
            self._storing.join()

    def _tick(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self.look()

    def _spent(self) -> float | None:
        usage = self.meter.usage
        spent = {
            "steps": usage.steps,
            "tokens": usage.total_tokens,
            "usd": usage.cost_usd,
            "minutes": self.meter.working_seconds / 60,
        }[self.grid.unit]
        return None if spent is None else float(spent)

    def _take(self) -> None:
        assert self._sandbox and self._gather
        self.settle()  # one copy at a time in the scratch folder
        usage, minutes = self.meter.usage, self.meter.working_seconds / 60
        body = self.scratch / f"snapshot-{secrets.token_hex(4)}"
        try:
            self._sandbox.freeze()
            with body.open("wb") as file:
                manifest = self._gather(file)
        except OSError:  # our own disk: the next one may fit
            body.unlink(missing_ok=True)
            return
        finally:
            self._sandbox.thaw()
        spent = (usage.steps, usage.total_tokens, usage.cost_usd, minutes)
        seen = Snapshot(len(self.taken), *spent, f"snapshots/{len(self.taken):04d}.tar", "")
        self._storing = threading.Thread(target=self._store, args=(seen, manifest, body), name="snapshot", daemon=True)
        self._storing.start()

    def _store(self, seen: Snapshot, manifest: Manifest, body: Path) -> None:
        # This thread only: on a busy machine it takes what the agent leaves.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LAST)
        copy = body.with_suffix(".tar")
        with suppress(Fault, OSError):
            with body.open("rb") as content, copy.open("wb") as whole:
                write_archive(manifest, content, whole)
            digest = of_file(copy)
            same = next((one.archive for one in self.taken if one.digest == digest), None)
            if same is None:
                self.place.take(seen.archive, copy)
            self.taken.append(replace(seen, archive=same or seen.archive, digest=digest))
            self.place.write(LIST_NAME, json.dumps([asdict(one) for one in self.taken]).encode())
        body.unlink()
        copy.unlink(missing_ok=True)


def stored_snapshots(place: Place) -> list[Snapshot]:
    """Return what an attempt's folder holds, oldest first."""
    return [Snapshot(**one) for one in json.loads(place.read(LIST_NAME))] if place.has(LIST_NAME) else []
