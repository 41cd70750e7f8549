"""Variance of made studies: known rates, known flakes, known levels."""

from __future__ import annotations

import numpy as np
import pytest
from stats.making import row, rows_of

from mldevbench.records import Outcome, RegradeRow, RunRow
from mldevbench.variance import analyse, repeated_verdicts, seeds_owed


def drawn(rates: dict[str, float], seeds: int, seed: int = 1, **changes: object) -> list[RunRow]:
    rng = np.random.default_rng(seed)
    words = {task: "".join("1" if rng.random() < rate else "0" for _ in range(seeds)) for task, rate in rates.items()}
    return rows_of("one", words, **changes)


def test_known_rates_are_found_and_the_flaky_task_is_named() -> None:
    rates = {f"easy{number}": 1.0 for number in range(10)} | {f"hard{number}": 0.0 for number in range(9)}
    (found,) = analyse(drawn({**rates, "coin": 0.5}, seeds=10))
    assert found.rate.fixed.interval
    assert found.rate.fixed.interval.low <= 10.5 / 20 <= found.rate.fixed.interval.high
    assert [(flaky.task, flaky.kind) for flaky in found.flaky] == [("coin", "agent")]
    shares = {part.level: part.share for part in found.components}
    assert shares["task"] and shares["task"] > 0.9
    assert shares["instance"] is shares["validator"] is None


def test_instances_are_told_from_seeds() -> None:
    rows = []
    for task in range(40):
        for instance in range(4):
            word = "1111" if (task + instance) % 2 else "0000"
            rows += rows_of("one", {f"t{task}": word}, instance=instance)
    (found,) = analyse(rows)
    variances = {part.level: part.variance for part in found.components}
    assert variances["seed"] == 0
    assert variances["instance"] == pytest.approx(1 / 3)
    assert variances["task"] == 0


def test_a_validator_that_changes_its_mind_is_named() -> None:
    rows = rows_of("one", {"steady": "11", "torn": "11"})
    regrades = {one.run_id: [one.task == "steady" or place % 2 == 0] for place, one in enumerate(rows)}
    (found,) = analyse(rows, regrades)
    assert [(flaky.task, flaky.kind) for flaky in found.flaky if flaky.kind == "validator"] == [("torn", "validator")]
    assert {part.level: part.variance for part in found.components}["validator"] == pytest.approx(0.5 / 4)


def test_only_the_same_validator_is_a_repeat() -> None:
    rows = rows_of("one", {"a": "111"})
    verdicts = [("v", Outcome.FAILED), ("new", Outcome.FAILED), ("v", Outcome.VOID)]
    regrades = [
        RegradeRow(
            study="made", run_id=one.run_id, attempt=1, label="one", task="a", outcome=outcome,
            outcome_before=one.outcome, cause=None, score=None, score_before=None, metrics="{}",
            validator_digest=digest, validator_digest_before="v", validate_seconds=0.1, regraded_at=one.started_at,
            mldevbench_version="0",
        )
        for one, (digest, outcome) in zip(rows, verdicts, strict=True)
    ]  # fmt: skip
    assert repeated_verdicts(regrades) == {rows[0].run_id: [False]}


def test_a_node_that_fails_everything_is_named() -> None:
    rows = []
    for seed in range(16):
        bad = seed % 2 == 0
        rows.append(row("one", "bad", seed, "0" if bad else "1", node="sick" if bad else "well"))
        rows.append(row("one", "good", seed, "1", node="sick" if bad else "well"))
    (found,) = analyse(rows)
    assert ("bad", "node") in [(flaky.task, flaky.kind) for flaky in found.flaky]
    assert not [flaky for flaky in found.flaky if flaky.task == "good"]


def test_budgets_and_labels_are_never_pooled() -> None:
    rows = [*rows_of("one", {"a": "1"}), *rows_of("one", {"a": "0"}, budget_steps=5), *rows_of("two", {"a": "1"})]
    assert [(found.label, found.rate.judged) for found in analyse(rows)] == [("one", 1), ("one", 1), ("two", 1)]


def test_attempts_are_shown_up_to_half_the_seeds() -> None:
    (found,) = analyse(drawn({"a": 0.5, "b": 0.7, "c": 0.2}, seeds=8))
    assert [at.k for at in found.attempts] == [1, 2, 3, 4]
    for one, other in zip(found.attempts, found.attempts[1:], strict=False):
        assert one.at_least_one <= other.at_least_one
        assert one.all >= other.all


def test_void_runs_don_t_count_as_failed() -> None:
    (found,) = analyse(rows_of("one", {"a": "11v", "b": "0v0"}))
    assert found.rate.population.rate == 0.5
    assert (found.rate.judged, found.rate.void) == (4, 2)
    assert found.rate.void_bounds == pytest.approx((1 / 3, 2 / 3))


def test_all_void_is_no_rate() -> None:
    (found,) = analyse(rows_of("one", {"a": "vv"}))
    assert found.rate.tasks == 0
    assert found.rate.fixed.interval is None
    assert found.rate.void_bounds == (0.0, 1.0)


def test_seeds_until_narrow_come_in_whole_rounds() -> None:
    rows = drawn({f"t{number}": 0.5 for number in range(10)}, seeds=4)
    assert seeds_owed(drawn({"a": 0.5, "b": 0.5}, seeds=2), 0.05) == 3
    assert seeds_owed(rows, 0.9) == 4
    assert seeds_owed(rows, 0.05) > 20
