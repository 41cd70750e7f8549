"""Which paths of a workspace are declared: `train.py`, `checkpoints/**`, `*.json`, one segment at a time."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence

from mldevbench.errors import UserError

Tail = tuple[str, ...]
States = frozenset[Tail]  # what is still to be matched; the empty tail means that the path is declared
WILDCARDS = frozenset("*?[")


def parse(patterns: Iterable[str]) -> States:
    """Return the patterns as what has to be matched from the workspace's root on."""
    return frozenset(segments(pattern) for pattern in patterns)


def segments(pattern: str) -> Tail:
    parts = tuple(pattern.split("/"))
    if len(parts) > 1 and parts[-1] == "":
        parts = (*parts[:-1], "**")
    if any(part in ("", ".", "..") for part in parts):
        raise UserError(f"pattern {pattern!r} must be relative to the workspace, without '.', '..' or '//'")
    return parts


def advance(states: States, name: str) -> States:
    """Return what is left to match below an entry called `name`."""
    following: set[Tail] = set()
    for tail in states:
        following.update(step(tail, name))
    return frozenset(following)


def step(tail: Tail, name: str) -> Iterable[Tail]:
    if not tail:
        return
    if tail[0] == "**":
        yield tail
        if len(tail) == 1:
            yield ()
        yield from step(tail[1:], name)
    elif fnmatch.fnmatchcase(name, tail[0]):
        yield tail[1:]


def declared(states: States) -> bool:
    """Tell whether what led here is a declared file."""
    return () in states


def matches(path: str, patterns: Sequence[str]) -> bool:
    states = parse(patterns)
    for name in path.split("/"):
        states = advance(states, name)
    return declared(states)


def literal(pattern: str) -> str:
    """Return the part of a pattern before its first wildcard."""
    kept: list[str] = []
    for part in segments(pattern):
        if WILDCARDS.intersection(part):
            break
        kept.append(part)
    return "/".join(kept)
