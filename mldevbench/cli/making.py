"""New folders from templates."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from mldevbench.catalog import home
from mldevbench.errors import UserError

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


def make_task(name: str, category: str, root: Path | None) -> Path:
    for word in (name, category):
        if not re.fullmatch(r"[a-z][a-z0-9_]{1,60}", word):
            raise UserError(f"{word!r}: use small letters, digits and underscores, such as my_task")
    folder = (root or home()) / "tasks" / category / name
    if folder.exists():
        raise UserError(f"{folder} is there already; choose another name")
    shutil.copytree(TEMPLATES / "task", folder)
    return folder


def make_agent(name: str, parent: Path) -> Path:
    if not re.fullmatch(r"[a-z][a-z0-9_]{1,60}", name):
        raise UserError(f"{name!r}: use small letters, digits and underscores, such as my_agent")
    folder = parent / name
    if folder.exists():
        raise UserError(f"{folder} is there already; choose another name")
    shutil.copytree(TEMPLATES / "agent", folder)
    return folder
