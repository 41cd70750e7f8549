"""The catalogue: what is found, what is suggested, and how a broken folder is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.catalog import Catalog
from mldevbench.errors import UserError


def test_all_leaves_the_extras_out() -> None:
    catalog = Catalog.of()
    assert "hello_world" not in catalog.names(["all"])
    assert "nan_losses" in catalog.names(["all"])
    assert "hello_world" in catalog.names(["extra"])


def test_names_come_once_and_can_be_left_out() -> None:
    catalog = Catalog.of()
    debugging = catalog.names(["debugging", "nan_losses"])
    assert len(debugging) == len(set(debugging)) and "nan_losses" in debugging
    assert catalog.names(["debugging"], ["nan_losses"]) == [name for name in debugging if name != "nan_losses"]


@pytest.mark.parametrize(
    ("said", "meant"), [("nan_loss", "nan_losses"), ("debuging", "debugging"), ("hello", "hello_world")]
)
def test_a_wrong_name_gets_a_suggestion(said: str, meant: str) -> None:
    with pytest.raises(UserError, match=f"did you mean '{meant}'"):
        Catalog.of().names([said])


def test_a_wrong_agent_gets_a_suggestion() -> None:
    with pytest.raises(UserError, match="did you mean 'oracle'"):
        Catalog.of().agent("orcale")


def test_an_agent_can_be_a_folder(plugins: Path) -> None:
    assert Catalog.of().agent(str(plugins / "agents" / "worker")).id == "worker"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("difficulty: easy\n  bad: [", r"task\.yaml:6: not valid YAML"),
        ("difficultly: easy", r"task\.yaml:5: unknown key 'difficultly'; did you mean 'difficulty'"),
        ("difficulty: simple", r"task\.yaml:5: difficulty: input should be"),
    ],
)
def test_a_broken_task_is_named_and_the_others_work(plugins: Path, line: str, said: str) -> None:
    file = plugins / "tasks" / "trial" / "quick" / "task.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("difficulty: easy", line), encoding="utf-8")
    catalog = Catalog.of([plugins])
    with pytest.raises(UserError, match=said):
        catalog.task("quick")
    assert catalog.task("held").id == "held"


def test_a_root_without_plugins_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has neither tasks/ nor agents/"):
        Catalog.of([tmp_path])


def test_two_folders_of_one_name_are_refused(plugins: Path) -> None:
    (plugins / "tasks" / "trial" / "quick").rename(plugins / "tasks" / "trial" / "nan_losses")
    with pytest.raises(UserError, match="two folders are called 'nan_losses'"):
        Catalog.of([plugins]).task("nan_losses")
