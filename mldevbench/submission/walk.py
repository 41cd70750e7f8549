"""Finds the declared files of a workspace that an untrusted process filled, and never leaves it.

Every step is taken relative to an open directory and refuses links, so no name can lead elsewhere. It doesn't
freeze the workspace: every process that can write there must be dead.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mldevbench.submission.pattern import States, advance, declared
from mldevbench.submission.record import MANIFEST_NAME, Refused

MAX_DEPTH = 48
MAX_PATH_BYTES = 1024
MAX_VISITED = 500_000
MAX_REFUSED = 500
OPEN_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: should a FIFO take the file's place in between, opening it must not wait for a writer.
OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
ODD = {
    stat.S_IFLNK: "a symbolic link; only regular files are taken",
    stat.S_IFIFO: "a FIFO; only regular files are taken",
    stat.S_IFSOCK: "a socket; only regular files are taken",
    stat.S_IFBLK: "a device; only regular files are taken",
    stat.S_IFCHR: "a device; only regular files are taken",
}


@dataclass(frozen=True)
class Found:
    """A declared regular file, open for reading until the next one is asked for."""

    path: str
    descriptor: int
    status: os.stat_result


@dataclass
class Walk:
    """One pass over a workspace; what it would not take is in `refused`."""

    root: Path
    refused: list[Refused] = field(default_factory=list)
    visited: int = 0
    unlisted: int = 0
    over_limit: bool = False  # whether one of the unlisted was too much
    device: int = 0
    names_by_inode: Counter[int] | None = None

    def find(self, states: States) -> Iterator[Found]:
        """Yield the declared files in the order of their paths."""
        top = os.open(self.root, OPEN_DIRECTORY)
        try:
            self.device = os.fstat(top).st_dev
            yield from self.below(top, "", states, 1)
        finally:
            os.close(top)

    def refuse(self, path: str, reason: str, *, limit: bool = False) -> None:
        if len(self.refused) < MAX_REFUSED:
            self.refused.append(Refused(shown(path), reason, limit))
        else:
            self.unlisted += 1
            self.over_limit |= limit

    def below(self, directory: int, prefix: str, states: States, depth: int) -> Iterator[Found]:
        for name in self.names(directory, prefix):
            following = advance(states, name)
            if following:
                yield from self.entry(directory, prefix, name, following, depth)

    def names(self, directory: int, prefix: str) -> list[str]:
        names: list[str] = []
        with os.scandir(directory) as entries:
            for entry in entries:
                self.visited += 1
                if self.visited > MAX_VISITED:
                    self.refuse(prefix or ".", f"the workspace has more than {MAX_VISITED} entries", limit=True)
                    break
                names.append(entry.name)
        return sorted(names)

    def entry(self, directory: int, prefix: str, name: str, states: States, depth: int) -> Iterator[Found]:
        path = prefix + name
        try:
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            if problem := odd(path, status, self.device):
                if declared(states) or stat.S_ISLNK(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    self.refuse(path, problem)
            elif stat.S_ISDIR(status.st_mode):
                yield from self.directory(directory, path, name, states, depth)
            elif declared(states):
                yield from self.file(directory, path, name, status)
        except OSError as error:
            self.refuse(path, f"unreadable: {os.strerror(error.errno or 0)}")

    def directory(self, parent: int, path: str, name: str, states: States, depth: int) -> Iterator[Found]:
        if states == {()}:
            self.refuse(path, "a folder where a file was declared")
            return
        if depth >= MAX_DEPTH:
            self.refuse(path, f"nested more than {MAX_DEPTH} folders deep", limit=True)
            return
        with opened(name, OPEN_DIRECTORY, parent) as descriptor:
            yield from self.below(descriptor, f"{path}/", states, depth + 1)

    def file(self, parent: int, path: str, name: str, status: os.stat_result) -> Iterator[Found]:
        if status.st_nlink > 1 and self.names_inside(status.st_ino) != status.st_nlink:
            self.refuse(path, "a hard link to a file outside the workspace")
            return
        with opened(name, OPEN_FILE, parent) as descriptor:
            now = os.fstat(descriptor)
            if not stat.S_ISREG(now.st_mode) or (now.st_dev, now.st_ino) != (status.st_dev, status.st_ino):
                self.refuse(path, "changed while it was read")
                return
            yield Found(path, descriptor, now)

    def names_inside(self, inode: int) -> int:
        """Count the names of a file within the workspace: content that is all its own may be copied."""
        if self.names_by_inode is None:
            self.names_by_inode = Counter()
            top = os.open(self.root, OPEN_DIRECTORY)
            try:
                count_names(top, self.names_by_inode, self.device, 1)
            finally:
                os.close(top)
        return self.names_by_inode[inode]


@contextmanager
def opened(name: str, flags: int, parent: int) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def odd(path: str, status: os.stat_result, device: int) -> str | None:
    """Return why an entry is no plain file or folder of the workspace, if it isn't one."""
    if reason := ODD.get(stat.S_IFMT(status.st_mode)):
        return reason
    if not path.isprintable():
        return "its name has control characters or is not UTF-8"
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"its path is longer than {MAX_PATH_BYTES} bytes"
    if path == MANIFEST_NAME:
        return "its name is reserved"
    if status.st_dev != device:
        return "it lies on another file system"
    # By its mode, not by trying: the same submission must read alike for root and for an ordinary user.
    needed = stat.S_IRUSR | (stat.S_IXUSR if stat.S_ISDIR(status.st_mode) else 0)
    if status.st_mode & needed != needed:
        return f"unreadable: its mode is {stat.S_IMODE(status.st_mode):04o}"
    return None


def count_names(directory: int, names: Counter[int], device: int, depth: int) -> None:
    with os.scandir(directory) as entries:
        listed = [(entry.name, entry.inode(), entry.is_dir(follow_symlinks=False)) for entry in entries]
    for name, inode, is_directory in listed:
        if is_directory and depth < MAX_DEPTH:
            try:
                with opened(name, OPEN_DIRECTORY, directory) as descriptor:
                    if os.fstat(descriptor).st_dev == device:
                        count_names(descriptor, names, device, depth + 1)
            except OSError:
                continue  # what can't be seen is not counted, so the link is refused
        elif not is_directory:
            names[inode] += 1


def shown(path: str) -> str:
    """Return a path that can be stored and printed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in path)
