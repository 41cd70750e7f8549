"""Are the files that had to stay as they were still the same? Compared by digest with freshly made ones."""

from __future__ import annotations

from pathlib import Path

from mldevbench import workspace
from mldevbench.checks import check
from mldevbench.digest import files_under, of_file
from mldevbench.draw import Draw
from mldevbench.records import Check
from mldevbench.submission import Submission, matches
from mldevbench.task import Task


def protected_files(task: Task, draw: Draw, profile: str, submission: Submission, pristine: Path) -> Check:
    """Compare the protected files with the ones that the task gives out for this instance."""
    workspace.build(task, draw, profile, pristine)
    found = submission.witnessed | submission.files
    changed: list[str] = []
    for path in files_under(pristine):
        name = path.relative_to(pristine).as_posix()
        if not matches(name, task.protected):
            continue
        if name not in found:
            changed.append(f"{name} is missing")
        elif found[name].sha256 != of_file(path):
            changed.append(f"{name} was changed")
    expected = f"{', '.join(task.protected)} as given"
    return check("protected files", not changed, expected, "; ".join(changed[:10]) or "unchanged")
