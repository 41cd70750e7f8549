"""Gives every sandbox that root opens a user id of its own, from a range that nothing else uses."""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass
from pathlib import Path

from mldevbench.errors import Fault

# Above what systemd gives to containers; else, where the map of ids is small, its range for transient services.
RANGES = ((0x70000000, 65_536), (61_184, 4_336))


@dataclass
class Claim:
    """A user id held for one sandbox; the kernel releases it if we die."""

    uid: int
    held: socket.socket

    def release(self) -> None:
        self.held.close()


def mapped_range() -> tuple[int, int]:
    """Return the first range that this user namespace has."""
    lines = Path("/proc/self/uid_map").read_text(encoding="ascii").splitlines()
    maps = [(int(first), int(count)) for first, _, count in (line.split() for line in lines)]
    for start, size in RANGES:
        if any(first <= start and start + size <= first + count for first, count in maps):
            return start, size
    raise Fault("sandbox_error", "this container maps too few user ids; run it with at least 65,536 of them")


def claim() -> Claim:
    """Hold a random free id of the range, exclusively on this machine."""
    start, size = mapped_range()
    for uid in random.SystemRandom().sample(range(start, start + size), 64):
        held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            # A name in the abstract namespace is exclusive and vanishes with its holder.
            held.bind(f"\0mldevbench-uid-{uid}")
        except OSError:
            held.close()
            continue
        return Claim(uid, held)
    raise Fault("sandbox_error", "no user id is free for a sandbox")
