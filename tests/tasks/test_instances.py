"""An instance is its draw: the same again for the same key, another one for another."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest

from mldevbench import workspace
from mldevbench.catalog import home
from mldevbench.digest import of_tree
from mldevbench.draw import Draw
from mldevbench.mirror.door import open_mirror
from mldevbench.task import Task, load_task

FOLDERS = sorted(path.parent for path in (home() / "tasks").glob("*/*/task.yaml"))
SALT = b"a salt for tests"


pytestmark = pytest.mark.slow


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def task(request: pytest.FixtureRequest) -> Task:
    return load_task(request.param)


@cache
def built(folder: Path, instance: int, time: int = 1) -> tuple[str, str]:
    """Return the instruction and the digest of all that an agent can meet: its workspace and what its mirror serves."""
    task = load_task(folder)
    draw = Draw.of(SALT, task.id, instance)
    with tempfile.TemporaryDirectory(prefix=f"time-{time}-") as name:
        place = Path(name)
        instruction = workspace.build(task, draw, "mini", place / "workspace")
        with open_mirror(task, draw, "mini", place / "door", "bubblewrap"):
            pass
        return instruction, of_tree(place)


def test_the_same_instance_twice(task: Task) -> None:
    assert built(task.folder, 0) == built(task.folder, 0, time=2)


def test_other_instances_differ(task: Task) -> None:
    if not task.part("data.py").is_file():
        pytest.skip("the workspace is the same for all; what it is judged by is drawn later")
    assert len({built(task.folder, instance)[1] for instance in range(3)}) == 3


def test_the_instruction_has_no_blank_left(task: Task) -> None:
    assert "$" not in built(task.folder, 0)[0]
