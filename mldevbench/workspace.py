"""The workspace: what an agent finds, built up from an allow-list."""

from __future__ import annotations

import shutil
from pathlib import Path
from string import Template

from mldevbench import plugin
from mldevbench.assets import provided
from mldevbench.digest import files_under
from mldevbench.draw import Draw
from mldevbench.errors import UserError
from mldevbench.mirror.address import URL
from mldevbench.task import Task


def build(task: Task, draw: Draw, profile: str, destination: Path, mirror: str = URL) -> str:
    """Fill an empty folder with the task's given files and its instance's data; return the instruction."""
    known = provided(task, profile)
    values = {**known, "mirror": mirror}
    given = task.part("workspace")
    destination.mkdir(parents=True, exist_ok=True)
    lay_over(given, destination)
    if task.part("data.py").is_file():
        prepare = getattr(plugin.load(task.part("data.py")), "prepare", None)
        values |= (prepare(destination, draw, known) if prepare else None) or {}
    return fill(task, values)


def lay_over(source: Path, destination: Path) -> None:
    """Copy the files of one folder over another; times and modes are not carried along."""
    for path in files_under(source) if source.is_dir() else ():
        target = destination / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        if path.stat().st_mode & 0o100:
            target.chmod(0o755)


def fill(task: Task, values: dict[str, object]) -> str:
    """Put the values of profile and instance into the instruction."""
    text = task.part("instruction.md").read_text(encoding="utf-8")
    try:
        return Template(text).substitute({name: str(value) for name, value in values.items()})
    except (KeyError, ValueError) as error:
        raise UserError(f"{task.part('instruction.md')}: ${error} is filled by neither profile nor data.py") from None
