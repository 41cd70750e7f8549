"""What an edit changes: new runs, a regrade, or nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.agent import load_agent
from mldevbench.task import Task, load_task


def add(path: Path, text: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text(encoding="utf-8") if path.exists() else "") + text, encoding="utf-8")


def digests(task: Task) -> tuple[str, str]:
    again = load_task(task.folder)
    return again.task_digest("mini"), again.validator_digest()


@pytest.fixture
def task(plugins: Path) -> Task:
    return load_task(plugins / "tasks" / "trial" / "quick")


@pytest.mark.parametrize("name", ["instruction.md", "workspace/given.txt", "data.py"])
def test_what_the_agent_meets_makes_new_runs(task: Task, name: str) -> None:
    before = digests(task)
    add(task.folder / name, "# more\n")
    after = digests(task)
    assert after[0] != before[0] and after[1] == before[1]


@pytest.mark.parametrize(
    ("key", "value"), [("submission_max_mb: 1", "submission_max_mb: 2"), ("mini: {}", "mini: {a: 1}")]
)
def test_values_that_the_agent_meets_make_new_runs(task: Task, key: str, value: str) -> None:
    before = digests(task)
    file = task.folder / "task.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace(key, value), encoding="utf-8")
    assert digests(task)[0] != before[0]


@pytest.mark.parametrize("name", ["validate.py", "hidden/labels.txt"])
def test_what_judges_asks_for_a_regrade_only(task: Task, name: str) -> None:
    before = digests(task)
    add(task.folder / name)
    after = digests(task)
    assert after[0] == before[0] and after[1] != before[1]


@pytest.mark.parametrize("name", ["solution/solve.sh", "cheats/new/solve.sh", "mutants/new/solve.sh"])
def test_known_answers_change_nothing(task: Task, name: str) -> None:
    before = digests(task)
    add(task.folder / name)
    assert digests(task) == before


def test_a_title_changes_nothing(task: Task) -> None:
    before = digests(task)
    file = task.folder / "task.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("A trial", "Another title"), encoding="utf-8")
    assert digests(task) == before


def test_a_generator_that_data_imports_makes_new_runs(task: Task) -> None:
    add(task.folder / "data.py", "from mldevbench.material.words import greeting\n")
    with_words = digests(task)[0]
    (task.folder / "data.py").write_text("from mldevbench.material import shapes\n", encoding="utf-8")
    assert digests(task)[0] != with_words


def test_an_edited_agent_is_another_agent(plugins: Path) -> None:
    folder = plugins / "agents" / "worker"
    before = load_agent(folder).digest()
    add(folder / "agent.py", "# edited\n")
    assert load_agent(folder).digest() != before
