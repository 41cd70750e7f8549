"""Comparisons of labels: exact values of the paper, voids, costs, instances."""

from __future__ import annotations

import pytest
from stats.making import rows_of

from mldevbench.compare import compare, compare_pair
from mldevbench.pairing import Wish, pair
from mldevbench.reference import paper_rows
from mldevbench.stats.paired import sign_flip
from mldevbench.subject import Subject, find_subjects


def subject(label: str, tasks: dict[str, str], **changes: object) -> Subject:
    return Subject("made", label, tuple(rows_of(label, tasks, **changes)))


def test_the_paper_in_our_words_has_its_totals() -> None:
    passed = {label: 0 for label in ("react-sonnet", "openhands-sonnet", "aide-4o", "react-4o")}
    for row in paper_rows():
        passed[row.label] += row.outcome == "passed"
    assert passed == {"react-sonnet": 14, "openhands-sonnet": 15, "aide-4o": 5, "react-4o": 5}
    assert len(paper_rows()) == 120


def test_all_pairs_of_the_paper_with_holm() -> None:
    words = ["paper:react-sonnet", "paper:openhands-sonnet", "paper:aide-4o", "paper:react-4o"]
    found = compare(find_subjects(words, "nowhere"), Wish())
    assert [one.test.p_value for one in found] == [1, 0.00390625, 0.01171875, 0.001953125, 0.001953125, 1]
    assert [one.test.holm for one in found] == [1, 0.015625, 0.03515625, 0.01171875, 0.01171875, 1]
    assert found[0].costs.ratio
    assert found[0].costs.ratio.ratio == pytest.approx(1.461, abs=1e-3)


def test_several_seeds_are_compared_by_task_means() -> None:
    one = subject("one", {"a": "111", "b": "110", "c": "000", "d": "011"})
    two = subject("two", {"a": "010", "b": "000", "c": "000", "d": "011"})
    found = compare_pair(pair(one, two, Wish()))
    assert found.test.method == "exact sign-flip"
    assert found.test.p_value == sign_flip([2 / 3, 2 / 3, 0, 0]).p_value == 0.5
    assert found.difference == pytest.approx(1 / 3)
    assert found.population_method == "paired t"
    assert found.fixed
    assert found.fixed.low < 1 / 3 < found.fixed.high
    assert found.fixed.half_width < found.population.half_width


def test_void_runs_are_left_out_bounded_and_tested() -> None:
    tasks = {f"t{number}": "vvvvv" if number < 2 else "11110" for number in range(6)}
    one = subject("one", tasks)
    two = subject("two", dict.fromkeys(tasks, "11000"))
    found = compare_pair(pair(one, two, Wish()))
    assert len(found.tasks) == 4
    assert found.difference == pytest.approx(0.4)
    assert found.voids == (10, 0)
    assert found.void_p < 0.001
    assert found.void_bounds == pytest.approx((4 * 0.8 / 6 - 0.4, (4 * 0.8 + 2) / 6 - 0.4))
    assert any("every run is void" in note for note in found.notes)


def test_first_attempts_stand_beside() -> None:
    rows = [*rows_of("one", {"a": "1", "b": "0"}), *rows_of("one", {"c": "1"}, attempts=3)]
    found = compare_pair(
        pair(Subject("made", "one", tuple(rows)), subject("two", {"a": "1", "b": "1", "c": "1"}), Wish())
    )
    assert found.first.first_attempts == 0.5


def test_instances_of_a_task_count_alike() -> None:
    rows = [*rows_of("one", {"a": "1111"}), *rows_of("one", {"a": "0"}, instance=1)]
    other = [*rows_of("two", {"a": "0"}), *rows_of("two", {"a": "0"}, instance=1)]
    subjects = [Subject("made", rows[0].label, tuple(rows)), Subject("made", other[0].label, tuple(other))]
    found = compare_pair(pair(*subjects, Wish()))
    assert found.tasks[0].first == 0.5


def test_unknown_costs_are_not_zero() -> None:
    one, two = subject("one", {"a": "1", "b": "1"}, cost_usd=None), subject("two", {"a": "1", "b": "1"})
    costs = compare_pair(pair(one, two, Wish())).costs
    assert costs.first is None
    assert costs.ratio is None
    assert costs.second
    assert costs.second.ratio == 0.5
