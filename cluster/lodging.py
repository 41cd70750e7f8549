"""A folder for one piece of work; what a killed actor left is sent and cleared by the next one on its node."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mldevbench.errors import Fault, UserError
from mldevbench.store.lease import boot_of_machine, start_of
from mldevbench.submission import erase
from mldevbench.trajectory import OWED, ship_rest

OWNER = ".owner"


@contextmanager
def lodging(scratch: Path) -> Iterator[Path]:
    """Give a folder of a meaningless name, with word beside it of who uses it, and leave nothing of both."""
    scratch.mkdir(parents=True, exist_ok=True)
    folder = scratch / secrets.token_hex(8)
    owner = folder.with_suffix(OWNER)
    owner.write_text(f"{_here()}\n{os.getpid()}\n{start_of(os.getpid())}", encoding="utf-8")
    folder.mkdir(mode=0o711)
    try:
        yield folder
    finally:
        erase(folder)
        owner.unlink(missing_ok=True)


def sweep(scratch: Path) -> int:
    """Clear the folders whose users are known to be dead, once their trajectories are sent; return how many."""
    swept = 0
    for owner in scratch.glob(f"*{OWNER}"):
        with suppress(OSError, ValueError, Fault, UserError):
            here, pid, start = owner.read_text(encoding="utf-8").split("\n")
            # Another host or container may use the same folder: its processes can't be seen from here.
            if here == _here() and start_of(int(pid)) != start:
                folder = owner.with_suffix("")
                for note in folder.glob(f"*/trajectory{OWED}"):  # no deeper: there an agent could have left one
                    ship_rest(note)
                erase(folder)
                owner.unlink(missing_ok=True)
                swept += 1
    return swept


def _here() -> str:
    return f"{socket.gethostname()} {boot_of_machine()} {Path('/proc/self/ns/pid').readlink()}"
