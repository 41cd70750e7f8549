"""Fetching: resumed, tried again, verified, and done once however many ask."""

from __future__ import annotations

import http.client
import shutil
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mldevbench.assets.declared import Asset, declared, distinct
from mldevbench.assets.keeping import Keep, default_keep
from mldevbench.assets.turn import turn
from mldevbench.errors import UserError
from mldevbench.task import Task

TRIES = 5
CHUNK = 1 << 20
PATIENCE_SECONDS = 60.0
SPARE_BYTES = 256 << 20


@dataclass(frozen=True)
class Fetcher:
    """How to fetch; `progress` is told of every piece that arrives."""

    keep: Keep = field(default_factory=default_keep)
    offline: bool = False
    progress: Callable[[Asset, int], None] = lambda asset, size: None
    sleep: Callable[[float], None] = time.sleep
    tries: int = TRIES

    def bring(self, asset: Asset) -> Path:
        """Return where an asset's content is, fetched if it wasn't there."""
        place = self.keep.place(asset.sha256)
        if self.keep.has(asset.sha256, asset.bytes):
            return place
        if self.offline:
            raise UserError(f"{named(asset)} isn't on this machine and --offline forbids to fetch it; "
                            f"run 'mldevbench assets fetch {asset.task} --profile {asset.profile}'")  # fmt: skip
        with turn(self.keep.lock(asset.sha256)):
            if not self.keep.has(asset.sha256, asset.bytes):
                self._demand_room(asset)
                self._try(asset)
        return place

    def _try(self, asset: Asset) -> None:
        trouble = ""
        for number in range(self.tries):
            if number:
                self.sleep(min(30.0, 2.0**number))
            try:
                self._download(asset)
                self.keep.accept(asset.sha256)
                return
            except Lasting as error:
                raise UserError(f"{named(asset)}: {error}; correct its address in task.yaml, or put the file at "
                                f"{self.keep.place(asset.sha256)}") from None  # fmt: skip
            except (OSError, ValueError, http.client.HTTPException) as error:
                trouble = str(error) or type(error).__name__
        raise UserError(f"{named(asset)} can't be fetched from {asset.url} ({trouble}, {self.tries} tries); "
                        "try again later: what has arrived is kept")  # fmt: skip

    def _download(self, asset: Asset) -> None:
        """Add to what is there; a server that doesn't know ranges sends all of it again."""
        part = self.keep.part(asset.sha256)
        part.parent.mkdir(parents=True, exist_ok=True)
        have = part.stat().st_size if part.exists() else 0
        if have > asset.bytes:
            part.unlink()
            have = 0
        if have < asset.bytes:
            self._receive(asset, part, have)
        size = part.stat().st_size if part.exists() else 0
        if size != asset.bytes:
            if size > asset.bytes:
                part.unlink()
            raise ValueError(f"{size} of {asset.bytes} bytes came")

    def _receive(self, asset: Asset, part: Path, have: int) -> None:
        request = urllib.request.Request(asset.url, headers={"User-Agent": "mldevbench"})
        if have:
            request.add_header("Range", f"bytes={have}-")
        try:
            response = urllib.request.urlopen(request, timeout=PATIENCE_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416:
                part.unlink(missing_ok=True)
            raise (Lasting if error.code in (401, 403, 404, 410) else ValueError)(
                f"the server says {error.code}"
            ) from None
        with response, part.open("ab" if response.status == 206 else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                self.progress(asset, len(chunk))
                if file.tell() > asset.bytes:
                    return

    def _demand_room(self, asset: Asset) -> None:
        self.keep.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.keep.folder).free
        if free < asset.bytes + SPARE_BYTES:
            raise UserError(f"{named(asset)} needs {asset.bytes >> 20} MB and {self.keep.folder} has {free >> 20} MB; "
                            "free some, or choose another folder with MLDEVBENCH_CACHE")  # fmt: skip


class Lasting(Exception):
    """A refusal that no further try would change."""


def named(asset: Asset) -> str:
    return f"asset {asset.name} of {asset.task}"


def fetch(assets: Iterable[Asset], fetcher: Fetcher) -> None:
    """Bring all of them, each content once."""
    for asset in distinct(assets):
        fetcher.bring(asset)


def owed_bytes(tasks: Iterable[Task], profile: str) -> int:
    """Return how much this machine lacks of what tasks declare."""
    keep = default_keep()
    each = distinct(asset for task in tasks for asset in declared(task, profile))
    return sum(asset.bytes for asset in each if not keep.has(asset.sha256, asset.bytes))


def ensure(task: Task, profile: str, *, offline: bool = False) -> None:
    """See to it that a task's assets are on this machine before work starts."""
    assets = declared(task, profile)
    if assets:
        fetch(assets, Fetcher(offline=offline))
