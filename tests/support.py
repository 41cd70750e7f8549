"""What tests import by name."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

Cli = Callable[..., subprocess.CompletedProcess[str]]


class Process(NamedTuple):
    parent: int
    title: str


def processes() -> dict[int, Process]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()
            title = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            if fields[0] not in ("Z", "X"):
                found[int(folder.name)] = Process(int(fields[1]), title)
    return found


def offspring(ancestor: int) -> dict[int, str]:
    """Return everything that a process started, however far down, with its command line."""
    living, found = processes(), {ancestor}
    while more := {pid for pid, one in living.items() if one.parent in found} - found:
        found |= more
    return {pid: living[pid].title for pid in found - {ancestor}}
