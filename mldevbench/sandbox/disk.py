"""Measures a folder that somebody else is writing to, without following anything out of it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

DEEPEST = 100  # nobody works deeper; whoever digs there hides something


@dataclass
class Measure:
    size: int = 0  # bytes that are really taken
    files: int = 0
    too_deep: bool = False


def measure(folder: Path, most_files: int) -> Measure:
    """Add up a tree; stop as soon as it has more than `most_files` entries."""
    result = Measure()
    seen: set[tuple[int, int]] = set()
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    _add(descriptor, 0, result, seen, most_files)
    return result


def _add(descriptor: int, depth: int, result: Measure, seen: set[tuple[int, int]], most: int) -> None:
    try:
        for name in os.listdir(descriptor):
            if result.files > most:
                return
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except OSError:
                continue  # gone meanwhile
            result.files += 1
            if (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                result.size += status.st_blocks * 512
            if stat.S_ISDIR(status.st_mode):
                _enter(descriptor, name, depth, result, seen, most)
    finally:
        os.close(descriptor)


def _enter(parent: int, name: str, depth: int, result: Measure, seen: set[tuple[int, int]], most: int) -> None:
    if depth >= DEEPEST:
        result.too_deep = True
        return
    try:
        child = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    except OSError:
        return  # gone, swapped for a link, or closed to us
    _add(child, depth + 1, result, seen, most)
