"""Workspaces as an attacker leaves them: what must not be taken along, and the reason that must be given."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

MAX_FILES = 300  # instead of ours, which would take long to fill
SECRET = b"a line that only the host may read"


class Plant(NamedTuple):
    name: str
    plant: Callable[[Path], object]  # fills `loot/` of a workspace; ../secret lies beside the workspace
    path: str  # as it is listed among the refused
    reason: str


def far_name(place: Path) -> None:
    """Build a path that is longer than any path we take."""
    here = place / "loot"
    for _ in range(6):
        here = here / ("d" * 200)
    here.mkdir(parents=True)
    (here / "x").write_bytes(b"x")


def deep(place: Path) -> None:
    here = os.open(place / "loot", os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def listen(place: Path) -> None:
    # Bound by a relative name: the path of a socket may not be long.
    here = Path.cwd()
    os.chdir(place / "loot")
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("x")
    finally:
        os.chdir(here)


def sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def many(place: Path) -> None:
    for number in range(MAX_FILES + 5):
        (place / "loot" / f"{number:03}").touch()


def closed_folder(place: Path) -> None:
    (place / "loot/shut").mkdir()
    (place / "loot/shut/x").write_bytes(b"x")
    (place / "loot/shut").chmod(0)


def folder_becomes_link(place: Path) -> None:
    (place / "loot").rmdir()
    (place / "loot").symlink_to("..")


def raw_name(place: Path, name: bytes) -> None:
    with open(os.path.join(os.fsencode(place), b"loot", name), "wb") as file:  # noqa: PTH118, PTH123
        file.write(b"x")


TABLE = [
    Plant("link to a host file", lambda p: (p / "loot/x").symlink_to("/etc/passwd"), "loot/x", "symbolic link"),
    Plant("link upwards", lambda p: (p / "loot/x").symlink_to("../../secret"), "loot/x", "symbolic link"),
    Plant("link to a host folder", lambda p: (p / "loot/x").symlink_to("/etc"), "loot/x", "symbolic link"),
    Plant("link to the parent", lambda p: (p / "loot/x").symlink_to(".."), "loot/x", "symbolic link"),
    Plant("link to itself", lambda p: (p / "loot/x").symlink_to("x"), "loot/x", "symbolic link"),
    Plant("dangling link", lambda p: (p / "loot/x").symlink_to("nowhere"), "loot/x", "symbolic link"),
    Plant(
        "link to a process's memory", lambda p: (p / "loot/x").symlink_to("/proc/self/environ"), "loot/x", "symbolic"
    ),
    Plant("link within the workspace", lambda p: (p / "loot/x").symlink_to("../fine.txt"), "loot/x", "symbolic link"),
    Plant("the declared folder is a link", folder_becomes_link, "loot", "symbolic link"),
    Plant("hard link to a file outside", lambda p: os.link(p.parent / "secret", p / "loot/x"), "loot/x", "hard link"),
    Plant("FIFO", lambda p: os.mkfifo(p / "loot/x"), "loot/x", "FIFO"),
    Plant("socket", listen, "loot/x", "socket"),
    Plant("a terabyte of nothing", lambda p: sparse(p / "loot/x", 1 << 40), "loot/x", "bytes"),
    Plant("one byte too much", lambda p: sparse(p / "loot/x", 20_000_000 - 3), "loot/x", "bytes"),
    Plant("too many files", many, "loot/300", "files"),
    Plant("folders without end", deep, "loot" + "/d" * 47, "deep"),
    Plant("a folder where a file was declared", lambda p: (p / "only.txt").mkdir(), "only.txt", "a folder"),
    Plant("endless path", far_name, "loot" + ("/" + "d" * 200) * 6, "longer than"),
    Plant("newline in a name", lambda p: raw_name(p, b"a\nb"), "loot/a\\nb", "control"),
    Plant("escape sequence in a name", lambda p: raw_name(p, b"\x1b[2Jx"), "loot/\\x1b[2Jx", "control"),
    Plant("a name that is not UTF-8", lambda p: raw_name(p, b"\xff\xfe"), "loot/\\udcff\\udcfe", "not UTF-8"),
    Plant("text direction override", lambda p: raw_name(p, "\u202egnp.exe".encode()), "loot/\\u202egnp.exe", "control"),
    Plant("unreadable file", lambda p: ((p / "loot/x").touch(), (p / "loot/x").chmod(0)), "loot/x", "unreadable"),
    Plant("unreadable folder", closed_folder, "loot/shut", "unreadable"),
    Plant("a manifest of its own", lambda p: (p / ".manifest.json").write_text("{}"), ".manifest.json", "reserved"),
]

AS_ROOT = [
    Plant("block device", lambda p: os.mknod(p / "loot/x", 0o60666, os.makedev(7, 0)), "loot/x", "device"),
    Plant("character device", lambda p: os.mknod(p / "loot/x", 0o20666, os.makedev(1, 5)), "loot/x", "device"),
]
