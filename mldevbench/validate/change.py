"""Variants told as changes: a cheat or mutant may be a solution, or a given file, with some lines changed.

`solution.patch` in a variant's folder stands for all files of `solution/` after a unified diff, `workspace.patch` for
the given files that it names, `NAME.patch` for the alternative solution of that name. What else is in the folder is
laid over that. A diff must fit exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from mldevbench import workspace
from mldevbench.errors import UserError

SUFFIX = ".patch"
FILE = re.compile(r"^\+\+\+ (\S+)\n", re.MULTILINE)
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


def lay_variant(folder: Path, place: Path) -> None:
    """Lay a variant's files over a workspace."""
    for patch in patches(folder):
        base = base_of(patch)
        if base.name != "workspace":
            workspace.lay_over(base, place)
        for name, text in changed(patch, base):
            (place / name).write_text(text, encoding="utf-8")
    workspace.lay_over(folder, place)
    for patch in patches(folder):
        (place / patch.name).unlink()


def patches(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"*{SUFFIX}"))


def base_of(patch: Path) -> Path:
    """Return the folder that a patch changes."""
    task = patch.parent.parent.parent
    base = task / (patch.stem if patch.stem in ("solution", "workspace") else f"solutions_alt/{patch.stem}")
    if not base.is_dir():
        raise UserError(f"{patch}: named after no folder; call it solution.patch, workspace.patch or as an alternative")
    return base


def changed(patch: Path, base: Path) -> Iterator[tuple[str, str]]:
    """Yield the files that a patch names, with their changes made."""
    _, *parts = FILE.split(patch.read_text(encoding="utf-8"))
    for name, hunks in zip(parts[::2], parts[1::2], strict=True):
        try:
            yield name, apply(hunks, (base / name).read_text(encoding="utf-8"))
        except (ValueError, OSError) as misfit:
            raise UserError(f"{patch}: does not fit {name}: {misfit}; make it anew with diff -u") from None


def apply(hunks: str, base: str) -> str:
    """Make the changes of a unified diff; a line that isn't where the diff says is a ValueError."""
    lines, result, position = base.splitlines(), [], 0
    for line in hunks.splitlines():
        if hunk := HUNK.match(line):
            start = int(hunk[1]) - (hunk[2] != "0")  # an empty range names the line before it
            result += lines[position:start]
            position = start
        elif line.startswith("--- "):  # the next file's
            break
        else:
            if line[:1] in (" ", "-"):
                if position >= len(lines) or lines[position] != line[1:]:
                    raise ValueError(f"line {position + 1} is not {line[1:]!r}")
                position += 1
            if line[:1] in (" ", "+"):
                result.append(line[1:])
    return "\n".join([*result, *lines[position:]]) + "\n"
