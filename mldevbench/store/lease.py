"""The lease: one driver per study, told apart from a dead one by watching whether its counter moves."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from mldevbench.errors import Fault, UserError
from mldevbench.store.place import Place

RENEW_SECONDS = 5.0
WATCH_SECONDS = 20.0


@dataclass(frozen=True)
class Holder:
    token: str
    host: str
    boot: str
    pid: int
    started: str  # the process's start, as the kernel counts: a pid alone comes again
    counter: int = 0
    since: float = 0.0  # seconds of the common clock

    @property
    def told(self) -> str:
        """Say who it is and since when."""
        age = f", for {time.time() - self.since:.0f} s now" if self.since else ""
        return f"process {self.pid} on {self.host}{age}"


class Lease:
    """Held by the driver that runs a study."""

    def __init__(self, place: Place, clock: Callable[[], float] = time.monotonic) -> None:
        self.place = place
        self.clock = clock
        here = (socket.gethostname(), boot_of_machine(), os.getpid(), start_of(os.getpid()))
        self.mine = Holder(uuid.uuid4().hex, *here, since=time.time())
        self._renewed = 0.0

    def take(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Take the lease, or refuse because a living driver has it."""
        holder = self._read()
        if holder and not _known_dead(holder):
            deadline = self.clock() + WATCH_SECONDS
            while self.clock() < deadline:
                sleep(0.5)
                now = self._read()
                if now and (now.token, now.counter) != (holder.token, holder.counter):
                    raise UserError(f"study {self.place.shown!r} is being run by {now.told}; wait for it or cancel it")
                if now is None or _known_dead(now):
                    break
        self._write(self.mine)

    def renew(self) -> bool:
        """Move the counter when it is time; False when another driver took the study."""
        if self.clock() - self._renewed < RENEW_SECONDS:
            return True
        holder = self._read()
        if holder is None or holder.token != self.mine.token:
            return False
        self._write(Holder(**{**asdict(self.mine), "counter": holder.counter + 1}))
        return True

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Move the counter from a thread: starting Ray, or a slow storage, must not look like death."""
        over = threading.Event()

        def keep() -> None:
            while not over.wait(RENEW_SECONDS):
                with suppress(Fault):
                    self.renew()

        thread = threading.Thread(target=keep, name="lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join(RENEW_SECONDS)

    def release(self) -> None:
        holder = self._read()
        if holder and holder.token == self.mine.token:
            self.place.remove("lease.json")

    def _read(self) -> Holder | None:
        if not self.place.has("lease.json"):
            return None
        return Holder(**json.loads(self.place.read("lease.json")))

    def _write(self, holder: Holder) -> None:
        self.place.write("lease.json", json.dumps(asdict(holder)).encode())
        self._renewed = self.clock()


def running(place: Place) -> Holder | None:
    """Return who holds a study's lease, unless that process is known to be gone."""
    holder = Lease(place)._read()
    return None if holder is None or _known_dead(holder) else holder


def _known_dead(holder: Holder) -> bool:
    if holder.host != socket.gethostname() or holder.boot != boot_of_machine():
        return False
    return start_of(holder.pid) != holder.started


def boot_of_machine() -> str:
    """Return what tells one start of this machine from the next."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text(encoding="ascii").strip() if path.exists() else ""


def start_of(pid: int) -> str:
    """Return when a living process started, as the kernel counts; nothing if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]
