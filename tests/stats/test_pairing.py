"""What may be compared, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest
from stats.making import rows_of

from mldevbench.errors import UserError
from mldevbench.pairing import Pair, Wish, pair
from mldevbench.reference import paper_rows
from mldevbench.subject import Subject

TASKS = {"nan_losses": "11", "boolq": "01"}


def subject(label: str, tasks: dict[str, str] | None = None, **changes: Any) -> Subject:
    return Subject("made", label, tuple(rows_of(label, tasks or TASKS, **changes)))


def paired(second: Subject, **wish: Any) -> Pair:
    return pair(subject("one"), second, Wish(**wish))


def published(label: str) -> Subject:
    return Subject("paper", label, tuple(row for row in paper_rows() if row.label == label))


def test_equal_ground_is_paired_without_notes() -> None:
    found = paired(subject("two"))
    assert found.tasks == ("boolq", "nan_losses")
    assert found.notes == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"profile": "full"}, "profiles mini and full are never pooled"),
        ({"isolation": "process"}, "sandboxes bubblewrap and process are never pooled"),
        ({"network": "mirror"}, "network modes none and mirror are never pooled"),
        ({"salt_digest": "other"}, "salts salt and other draw different instances"),
        ({"samples": 4}, "samples 1 and 4"),
        ({"budget_steps": 20}, "budgets steps=50,minutes=60 and steps=20,minutes=60"),
        ({"task_digest": "new"}, "boolq, nan_losses changed between their runs"),
    ],
)
def test_different_ground_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words) as refusal:
        paired(subject("two", **changes))
    assert "made:one can't be compared with made:two" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_every_reason_is_said_at_once() -> None:
    with pytest.raises(UserError, match=r"profiles .*budgets .*sandboxes"):
        paired(subject("two", profile="full", isolation="process", budget_steps=20))


def test_across_profiles_is_no_way_around_for_studies() -> None:
    with pytest.raises(UserError, match="never pooled"):
        paired(subject("two", profile="full"), across_profiles=True)


def test_several_budgets_need_a_choice() -> None:
    both = Subject("made", "two", (*subject("two").rows, *subject("two", budget_steps=20).rows))
    with pytest.raises(UserError, match="several budgets; choose one, such as --budget steps=20"):
        paired(both)
    assert len(paired(both, budget={"steps": 50}).second.rows) == 4
    with pytest.raises(UserError, match="no run has that budget"):
        paired(both, budget={"steps": 7})


def test_a_changed_task_can_be_left_out() -> None:
    rows = [*rows_of("two", {"boolq": "01"}, task_digest="new"), *rows_of("two", {"nan_losses": "11"})]
    other = Subject("made", "two", tuple(rows))
    with pytest.raises(UserError, match="--exclude-task boolq"):
        paired(other)
    assert paired(other, exclude_tasks={"boolq"}).tasks == ("nan_losses",)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"validator_digest": "new"}, "validators"),
        ({"gpu_type": "A100"}, "GPUs"),
        ({"mldevbench_version": "9"}, "versions"),
    ],
)
def test_lesser_differences_are_flagged(changes: dict[str, Any], words: str) -> None:
    assert any(words in note for note in paired(subject("two", **changes)).notes)


def test_tasks_and_instances_of_one_side_are_left_out_and_said() -> None:
    rows = [*rows_of("two", {"nan_losses": "1", "ppo": "1"}), *rows_of("two", {"nan_losses": "1"}, instance=1)]
    found = paired(Subject("made", "two", tuple(rows)))
    assert found.tasks == ("nan_losses",)
    assert {row.instance for row in found.second.rows} == {0}
    assert found.notes == ("only one side ran boolq, ppo: left out",)


def test_no_common_task_is_refused() -> None:
    with pytest.raises(UserError, match="no task in common"):
        paired(subject("two", {"ppo": "1"}))


def test_the_paper_against_mini_must_be_asked_for() -> None:
    with pytest.raises(UserError, match="--across-profiles"):
        pair(subject("one"), published("react-4o"), Wish())
    found = pair(subject("one"), published("react-4o"), Wish(across_profiles=True))
    assert found.tasks == ("boolq", "nan_losses")
    assert any("not ours" in note for note in found.notes)


def test_the_paper_against_full_is_paired() -> None:
    assert pair(subject("one", profile="full"), published("react-4o"), Wish()).tasks


def test_a_provider_that_changed_its_model_is_flagged() -> None:
    rows = [*rows_of("two", TASKS, model_served="m-1")[:2], *rows_of("two", TASKS, model_served="m-2")[2:]]
    assert any("model version" in note for note in paired(Subject("made", "two", tuple(rows))).notes)
