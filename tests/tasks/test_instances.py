"""An instance is its draw: the same again for the same key, another one for another."""

from __future__ import annotations

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


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def task(request: pytest.FixtureRequest) -> Task:
    return load_task(request.param)


def built(task: Task, place: Path, instance: int) -> tuple[str, str]:
    """Return the instruction and the digest of all that an agent can meet: its workspace and what its mirror serves."""
    draw = Draw.of(SALT, task.id, instance)
    instruction = workspace.build(task, draw, "mini", place / "workspace")
    with open_mirror(task, draw, "mini", place / "door", "bubblewrap"):
        pass
    return instruction, of_tree(place)


def test_the_same_instance_twice(task: Task, tmp_path: Path) -> None:
    assert built(task, tmp_path / "one", 0) == built(task, tmp_path / "two", 0)


def test_other_instances_differ(task: Task, tmp_path: Path) -> None:
    if not task.part("data.py").is_file():
        pytest.skip("the workspace is the same for all; what it is judged by is drawn later")
    seen = {built(task, tmp_path / str(instance), instance)[1] for instance in range(3)}
    assert len(seen) == 3


def test_the_instruction_has_no_blank_left(task: Task, tmp_path: Path) -> None:
    assert "$" not in built(task, tmp_path / "one", 0)[0]
