"""The pure decisions: order, retry, limits, rooms."""

from __future__ import annotations

import dataclasses

import pytest

from cluster.ledger import Ledger
from cluster.retry import Decision, Losses, decide, wait_seconds
from cluster.rows import Ending, Facts, ended_row, now_utc, run_row, started_row
from cluster.scheduler import Durations, in_order, seconds_left
from mldevbench.records import AgentSpec, AttemptRow, Budget, Cause, Outcome, Run

SPEC = AgentSpec("react", "react", "d", "openai/x")


def run(task: str = "a", seed: int = 0, **values: object) -> Run:
    return dataclasses.replace(Run(SPEC, task, "c", "d", "mini", 0, seed, Budget()), **values)


def test_whole_seeds_first_and_the_longest_first_within() -> None:
    durations = Durations({"a": 10.0, "b": 99.0})
    runs = [run("a", 0), run("b", 1), run("b", 0), run("a", 1)]
    assert [(one.seed, one.task) for one in in_order(runs, durations)] == [(0, "b"), (0, "a"), (1, "b"), (1, "a")]
    assert [one.task for one in in_order([run("a", 1), run("b", 1), run("a", 2)], durations, "makespan")] == list("baa")


def test_durations_are_learnt_from_the_same_agent_then_from_others_then_from_the_author() -> None:
    durations = Durations({"a": 10.0})
    assert durations.expect(run("a")) == 10.0
    durations.learn("other", "a", 40.0)
    assert durations.expect(run("a")) == 40.0
    durations.learn("react", "a", 20.0)
    assert durations.expect(run("a")) == 20.0
    assert durations.expect(run("unheard")) == 180.0, "authors guess too low here, so this one may have too"
    durations.earlier["react", "before"] = 7.0
    assert durations.expect(run("before")) == 7.0


def test_time_left_is_never_less_than_the_longest_run() -> None:
    assert seconds_left((110.0, 100.0), [], 100) == 100.0
    assert seconds_left((100.0, 10.0), [5.0], 1) == 105.0
    assert seconds_left((0.0, 0.0), [7.0], 4) == 7.0
    assert seconds_left((0.0, 0.0), [], 1) == 0.0


@pytest.mark.parametrize(
    ("causes", "retries", "expected"),
    [
        ([Cause.NODE_LOST], 2, Decision.AGAIN),
        ([Cause.NODE_LOST] * 3, 2, Decision.GIVE_UP),
        ([Cause.NODE_LOST], 0, Decision.GIVE_UP),
        ([Cause.DRIVER_LOST] * 9, 0, Decision.AGAIN),
        ([Cause.PREEMPTED] * 9 + [Cause.NODE_LOST], 1, Decision.AGAIN),
        ([Cause.CANCELLED], 9, Decision.GIVE_UP),
        ([Cause.PREEMPTED] * 20, 0, Decision.AGAIN),
        ([Cause.PREEMPTED] * 20 + [Cause.DRIVER_LOST], 0, Decision.GIVE_UP),
    ],
)
def test_what_follows_from_losses(causes: list[Cause], retries: int, expected: Decision) -> None:
    assert decide(Losses(tuple(causes)), retries) is expected


def test_a_vanished_node_uses_up_no_retry_and_the_rest_is_waited_out() -> None:
    losses = Losses()
    for _ in range(20):
        losses = losses.and_(Cause.NODE_LOST, vanished=True)
    assert decide(losses, 0) is Decision.AGAIN and wait_seconds(losses) == 0.0
    assert decide(losses.and_(Cause.NODE_LOST, vanished=True), 0) is Decision.GIVE_UP
    waits = [wait_seconds(Losses((Cause.SANDBOX_ERROR,) * count)) for count in range(1, 10)]
    assert waits[:3] == [1.0, 2.0, 4.0] and max(waits) == 120.0


def attempt_row(**values: object) -> AttemptRow:
    row = started_row(Facts("s", "salt", {"a": "v"}), run(), 1, now_utc())
    return dataclasses.replace(row, **values)


def test_a_limit_holds_the_worst_case_of_every_start() -> None:
    ledger = Ledger(usd_limit=5.0)
    runs = [run(seed=seed, budget=Budget(usd=2.0)) for seed in range(4)]
    assert [ledger.reserve(one) for one in runs] == [True, True, False, False]
    ledger.charge(runs[0], attempt_row(phase="submitted", cost_usd=0.5, finished_at=now_utc()))
    assert ledger.reserve(runs[2])
    assert ledger.usd == 0.5


def test_a_lost_attempt_is_charged_its_worst_case_if_it_could_not_say_what_it_cost() -> None:
    ledger = Ledger(usd_limit=5.0)
    one = run(budget=Budget(usd=2.0))
    ledger.reserve(one)
    ledger.charge(one, attempt_row(phase="lost", cost_usd=None))
    assert ledger.usd == 2.0


def test_gpu_hours_are_limited_too_and_runs_without_gpus_are_not() -> None:
    ledger = Ledger(gpu_hours_limit=1.0)
    assert ledger.reserve(run(gpus=0.0))
    assert not ledger.reserve(run(seed=1, gpus=1.0, budget=Budget(wall_minutes=90)))
    assert ledger.reserve(run(seed=2, gpus=1.0, budget=Budget(wall_minutes=50)))


def test_spent_is_of_all_attempts_and_unknown_stays_unknown() -> None:
    facts = Facts("s", "salt", {"a": "v"})
    lost = ended_row(attempt_row(cost_usd=1.0, gpu_seconds=5.0), Ending(Outcome.VOID, Cause.NODE_LOST), now_utc())
    last = attempt_row(attempt=2, cost_usd=2.0, gpu_seconds=7.0)
    row = run_row(facts, run(), [lost, last], Ending(Outcome.PASSED), 0.0, now_utc())
    assert (row.cost_usd, row.spent_usd, row.spent_gpu_seconds, row.attempts) == (2.0, 3.0, 12.0, 2)
    unknown = dataclasses.replace(lost, cost_usd=None)
    assert run_row(facts, run(), [unknown, last], Ending(Outcome.PASSED), 0.0, now_utc()).spent_usd is None
