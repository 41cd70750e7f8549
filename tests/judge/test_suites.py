"""What makes the suites of the debugging and implementation tasks bite is there; `tasks check` shows that it bites."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.catalog import Catalog
from mldevbench.digest import files_under, of_tree
from mldevbench.submission import matches
from mldevbench.task import Task
from mldevbench.validate.change import lay_variant
from mldevbench.workspace import lay_over

CATALOG = Catalog.of([])
IMPLEMENTATIONS = [*CATALOG.names(["model_implementation"]), "lora", "mcts"]
LEVELS = {"channelvit": ("channelvit_easy", "channelvit_no_tests"), "mla": ("mla_hidden_tests",)}
# Cheats that look for the judge, or for what only a judge asks, and behave otherwise then.
DETECTING = ("forges_the_answer", "only_the_asked_epochs", "takes_over_the_probe")


@pytest.fixture(params=[*CATALOG.names(["debugging"]), *IMPLEMENTATIONS])
def task(request: pytest.FixtureRequest) -> Task:
    return CATALOG.task(request.param)


def laid(task: Task, cheat: str, place: Path) -> dict[str, str]:
    """Return what a cheat makes of the given files, by name: those that are new or changed."""
    folder, given = task.part("cheats") / cheat, task.part("workspace")
    assert folder.is_dir(), f"{task.id} has no cheat {cheat}"
    lay_over(given, place)
    lay_variant(folder, place)
    changed = {}
    for path in files_under(place):
        name = path.relative_to(place)
        if not (given / name).is_file() or (given / name).read_bytes() != path.read_bytes():
            changed[name.as_posix()] = path.read_text(encoding="utf-8")
    return changed


def submitted(task: Task, files: dict[str, str]) -> str:
    return "\n".join(text for name, text in files.items() if matches(name, task.submission))


def test_the_known_tricks_are_tried(task: Task, tmp_path: Path) -> None:
    assert "os._exit(0)" in submitted(task, laid(task, "exit_at_import", tmp_path / "exit"))
    assert "sys.settrace(" in submitted(task, laid(task, "settrace", tmp_path / "trace"))
    assert "items.clear()" in laid(task, "conftest", tmp_path / "conftest")["conftest.py"]
    names = {folder.name for folder in task.part("cheats").glob("*/")}
    assert names.intersection(DETECTING), names
    edited = {name for cheat in names if cheat.startswith("edited_") for name in laid(task, cheat, tmp_path / cheat)}
    visible = [name for name in edited if matches(name, task.protected)]
    assert visible or task.id == "channelvit_no_tests", "no cheat edits what is given to look at"


@pytest.mark.parametrize("name", IMPLEMENTATIONS)
def test_an_implementation_has_its_mutants(name: str) -> None:
    mutants = list(CATALOG.task(name).part("mutants").glob("*/"))
    assert len(mutants) >= 8


@pytest.mark.parametrize(("first", "other"), [(first, other) for first, more in LEVELS.items() for other in more])
def test_levels_share_their_judge_and_differ_in_what_is_given(first: str, other: str) -> None:
    one, two = CATALOG.task(first), CATALOG.task(other)
    assert one.validator_digest() == two.validator_digest()
    assert [one.part(name) for name in ("cheats", "mutants")] == [two.part(name) for name in ("cheats", "mutants")]
    assert given(one) != given(two)


def given(task: Task) -> tuple[str, str]:
    """Return the instruction without its first line, the title, and the digest of the given files."""
    text = task.part("instruction.md").read_text(encoding="utf-8")
    return text.split("\n", 1)[1], of_tree(task.part("workspace"))
