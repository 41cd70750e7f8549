"""Variants told as changes to a solution or to given files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.errors import UserError
from mldevbench.validate.change import apply, lay_variant

BASE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def task(tmp_path: Path) -> Path:
    files = {
        "solution/solve.sh": "python model.py\n",
        "solution/model.py": BASE,
        "solution/deep/other.py": "other\n",
        "solutions_alt/second/model.py": "second\n",
        "workspace/model.py": "given\n",
        "workspace/data.py": "data\n",
    }
    for name, text in files.items():
        write(tmp_path / "task" / name, text)
    return tmp_path / "task"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def laid(task: Path, **files: str) -> dict[str, str]:
    """Return what a variant of these files leaves in an empty workspace."""
    variant, place = task / "mutants" / "one", task.parent / "place"
    for name, text in files.items():
        write(variant / name.replace("__", "."), text)
    place.mkdir()
    lay_variant(variant, place)
    return {
        path.relative_to(place).as_posix(): path.read_text(encoding="utf-8")
        for path in place.rglob("*")
        if path.is_file()
    }


def change(name: str, old: str, new: str) -> str:
    return f"--- {name}\n+++ {name}\n@@ -1,1 +1,1 @@\n-{old}\n+{new}\n"


@pytest.mark.parametrize(
    ("hunks", "result"),
    [
        ("@@ -2,2 +2,2 @@\n two\n-three\n+3\n", "one\ntwo\n3\nfour\nfive\n"),
        ("@@ -1 +0,0 @@\n-one\n", "two\nthree\nfour\nfive\n"),
        ("@@ -2,0 +3,2 @@\n+a\n+b\n", "one\ntwo\na\nb\nthree\nfour\nfive\n"),
        ("@@ -1 +1 @@\n-one\n+1\n@@ -5 +5,2 @@\n five\n+six\n", "1\ntwo\nthree\nfour\nfive\nsix\n"),
        ("", BASE),
    ],
)
def test_changes_are_made(hunks: str, result: str) -> None:
    assert apply(hunks, BASE) == result


@pytest.mark.parametrize("hunks", ["@@ -2 +2 @@\n-three\n+3\n", "@@ -6 +6 @@\n-six\n+6\n"])
def test_a_change_that_does_not_fit_is_refused(hunks: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        apply(hunks, BASE)


def test_a_changed_solution_is_laid_whole_with_its_script(task: Path) -> None:
    found = laid(task, solution__patch=change("model.py", "one", "1"))
    assert found == {
        "solve.sh": "python model.py\n",
        "model.py": BASE.replace("one", "1"),
        "deep/other.py": "other\n",
    }


def test_files_beside_the_patch_win_and_several_files_can_be_changed(task: Path) -> None:
    patch = change("model.py", "one", "1") + change("deep/other.py", "other", "another")
    found = laid(task, solution__patch=patch, solve__sh="mine\n")
    assert (found["solve.sh"], found["model.py"], found["deep/other.py"]) == (
        "mine\n",
        BASE.replace("one", "1"),
        "another\n",
    )


def test_given_files_are_laid_only_where_changed(task: Path) -> None:
    assert laid(task, workspace__patch=change("model.py", "given", "taken")) == {"model.py": "taken\n"}


def test_an_alternative_can_be_changed(task: Path) -> None:
    assert laid(task, second__patch=change("model.py", "second", "third")) == {"model.py": "third\n"}


@pytest.mark.parametrize(
    ("name", "patch", "said"),
    [
        ("solution__patch", change("model.py", "two", "2"), "does not fit model.py: line 1 is not 'two'"),
        ("solution__patch", change("none.py", "two", "2"), "does not fit none.py"),
        ("nobody__patch", change("model.py", "two", "2"), "named after no folder"),
    ],
)
def test_mistakes_are_named(task: Path, name: str, patch: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        laid(task, **{name: patch})
