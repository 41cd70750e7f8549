"""The workspace: what an agent finds, built up from an allow-list.

A proof needs the same instance for every variant: `build_twice` makes it once and for all, and sees that it is the same
whenever it is made; below `at_hand` it is laid out again instead of being drawn again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from string import Template

from mldevbench import plugin
from mldevbench.assets import provided
from mldevbench.digest import files_under, of_tree
from mldevbench.draw import Draw
from mldevbench.errors import UserError
from mldevbench.mirror.address import URL
from mldevbench.task import Task


@dataclass(frozen=True)
class Built:
    """An instance that was built before: its files, and what `prepare` tells the instruction."""

    task: str
    draw: Draw
    profile: str
    folder: Path
    values: Mapping[str, object]


_at_hand: ContextVar[Built | None] = ContextVar("at_hand", default=None)


@contextmanager
def at_hand(built: Built | None) -> Iterator[None]:
    """Let `build` lay out this instance, where it is asked for the same one."""
    token = _at_hand.set(built)
    try:
        yield
    finally:
        _at_hand.reset(token)


def build(task: Task, draw: Draw, profile: str, destination: Path, mirror: str = URL) -> str:
    """Fill an empty folder with the task's given files and its instance's data; return the instruction."""
    known, built = provided(task, profile), _at_hand.get()
    if built and (built.task, built.draw, built.profile) == (task.id, draw, profile):
        shutil.copytree(built.folder, destination, symlinks=True, dirs_exist_ok=True)
        drawn = built.values
    else:
        drawn = _prepare(task, draw, known, destination)
    return fill(task, {**known, "mirror": mirror, **drawn})


def build_twice(task: Task, draw: Draw, profile: str, folder: Path) -> Built:
    """Build an instance, and refuse one that is another when it is built again: nothing could be compared with it."""
    known, first, second = provided(task, profile), folder / "first", folder / "second"
    values = [_prepare(task, draw, known, place) for place in (first, second)]
    if values[0] != values[1] or of_tree(first) != of_tree(second):
        raise UserError(
            f"{task.part('data.py')}: the same instance is another when it is built again; "
            "take everything random from `draw`, and nothing from the clock or the folder's name"
        )
    shutil.rmtree(second)
    return Built(task.id, draw, profile, first, values[0])


def _prepare(task: Task, draw: Draw, known: Mapping[str, object], destination: Path) -> Mapping[str, object]:
    lay_over(task.part("workspace"), destination)
    if not task.part("data.py").is_file():
        return {}
    prepare = getattr(plugin.load(task.part("data.py")), "prepare", None)
    return (prepare(destination, draw, known) if prepare else None) or {}


def lay_over(source: Path, destination: Path) -> None:
    """Copy the files of one folder over another; times and modes are not carried along."""
    destination.mkdir(parents=True, exist_ok=True)
    for path in files_under(source) if source.is_dir() else ():
        target = destination / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        if path.stat().st_mode & 0o100:
            target.chmod(0o755)


def fill(task: Task, values: Mapping[str, object]) -> str:
    """Put the values of profile and instance into the instruction."""
    text = task.part("instruction.md").read_text(encoding="utf-8")
    try:
        return Template(text).substitute({name: str(value) for name, value in values.items()})
    except (KeyError, ValueError) as error:
        raise UserError(f"{task.part('instruction.md')}: ${error} is filled by neither profile nor data.py") from None
