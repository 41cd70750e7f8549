"""Scaling: levels that were rerun, long runs that were replayed, and where the curve ends."""

from __future__ import annotations

import numpy as np
import pytest
from stats.making import row

from mldevbench.axis import Axis
from mldevbench.errors import UserError
from mldevbench.records import RunRow
from mldevbench.scaling import analyse, predict
from mldevbench.stats.envelope import envelope
from mldevbench.stats.paired import tango
from mldevbench.stats.panel import Panel
from mldevbench.stats.replay import Trace, calibrate

BUDGETS = (4, 8, 16, 32)


def needed(task: int, seed: int) -> float:
    """Return the steps that an oblivious agent needs for a task."""
    return float(np.random.default_rng([task, seed]).lognormal(2.3 + 0.1 * (task % 10), 0.6))


def level(budget: int, tasks: int = 20, seeds: range = range(4), aware: bool = False) -> list[RunRow]:
    """Run at one budget; an aware agent hurries when it sees a small one."""
    rows = []
    for task in range(tasks):
        for seed in seeds:
            need = min(needed(task, seed), budget / 2) if aware else needed(task, seed)
            passed = need <= budget
            rows.append(
                row("one", f"t{task}", seed, "1" if passed else "0", budget_steps=budget, steps=int(min(need, budget)))
            )
    return rows


def snapshots_of(rows: list[RunRow]) -> dict[str, list[tuple[float, bool]]]:
    """Grade a snapshot at every step."""
    return {
        one.run_id: [(step, step >= needed(int(one.task[1:]), one.seed)) for step in range(1, one.steps)]
        for one in rows
    }


def test_rerun_levels_rise_and_have_a_half_point() -> None:
    (found,) = analyse([one for budget in BUDGETS for one in level(budget)], Axis.STEPS)
    rates = [one.rate.population.rate for one in found.levels]
    assert rates == sorted(rates)
    assert found.rise
    assert found.rise.test.p_value < 0.01
    assert found.half
    assert found.half.interval.low < found.half.budget < found.half.interval.high
    truth = np.median([needed(task, seed) for task in range(20) for seed in range(4)])
    assert found.half.interval.low * 0.8 < truth < found.half.interval.high * 1.25


def test_the_curve_is_not_drawn_beyond_its_reach() -> None:
    (found,) = analyse([one for budget in BUDGETS for one in level(budget)], Axis.STEPS)
    assert predict(found, 128) > 0.9
    with pytest.raises(UserError, match="more than 4 times the largest budget"):
        predict(found, 129)
    (single,) = analyse(level(32), Axis.STEPS)
    with pytest.raises(UserError, match="no curve fits"):
        predict(single, 32)


def test_replay_agrees_with_the_rerun_of_an_oblivious_agent() -> None:
    long = level(32, tasks=40)
    rows = [*long, *level(8, tasks=40, seeds=range(100, 104))]
    (found,) = analyse(rows, Axis.STEPS, snapshots_of(long), margin=0.15)
    assert found.replay
    assert found.replay.calibrations[8.0].agrees
    assert found.replay.title == "scaling, replay validated at 8"
    for low, middle, high in zip(
        found.replay.estimates.lower, found.replay.estimates.graded, found.replay.estimates.upper, strict=True
    ):
        assert low <= middle <= high


def test_replay_is_refused_for_an_agent_that_sees_its_budget() -> None:
    long = level(32, tasks=40)
    rows = [*long, *level(8, tasks=40, seeds=range(100, 104), aware=True)]
    (found,) = analyse(rows, Axis.STEPS, snapshots_of(long), margin=0.15)
    assert found.replay
    assert not found.replay.calibrations[8.0].agrees
    assert found.replay.title == "replay, contradicted by a rerun"


def test_a_rise_on_every_task_is_no_certainty() -> None:
    rows = [
        row("one", f"t{task}", 0, "1" if budget > 8 else "0", budget_steps=budget)
        for task in range(8)
        for budget in (8, 16)
    ]
    (found,) = analyse(rows, Axis.STEPS)
    assert found.rise and found.rise.difference.mean == 1.0
    assert found.rise.difference.interval == pytest.approx(tango(8, 0, 8))
    assert found.rise.difference.interval.low < 0.5


@pytest.mark.parametrize("difference", [0.0, 0.05])
def test_equal_differences_do_not_validate_a_replay_on_few_tasks(difference: float) -> None:
    few, many = (calibrate([0.5] * tasks, [0.5 - difference] * tasks, margin=0.1) for tasks in (3, 100))
    assert not few.agrees and many.agrees
    assert few.interval.low < difference < few.interval.high


def test_no_half_step_is_shown() -> None:
    long = level(50, seeds=range(8))
    (found,) = analyse(long, Axis.STEPS, snapshots_of(long))
    assert found.replay
    assert found.replay.estimates.budgets == (1, 3, 6, 12, 25, 50)
    assert {(way.attempts, way.budget) for way in found.replay.iso[50.0]} == {(1, 50), (2, 25), (4, 12)}


def test_without_snapshots_only_the_lower_estimate_is_claimed() -> None:
    (found,) = analyse(level(32), Axis.STEPS)
    assert found.replay
    assert not found.replay.graded
    assert found.replay.title == "replay, not calibrated by a rerun"
    assert found.replay.surface == ()
    assert found.replay.estimates.lower[-1] == pytest.approx(found.levels[0].rate.population.rate)


def test_the_surface_has_iso_compute_lines() -> None:
    long = level(32, seeds=range(8))
    (found,) = analyse(long, Axis.STEPS, snapshots_of(long))
    assert found.replay
    assert found.replay.attempts == (1, 2, 4)
    ways = found.replay.iso[32.0]
    assert {(way.attempts, way.budget) for way in ways} == {(1, 32.0), (2, 16.0), (4, 8.0)}
    assert ways[0].rate == max(way.rate for way in ways)


def test_a_last_snapshot_may_be_worse_than_an_earlier_one() -> None:
    trace = Trace(10, False, ((2, False), (4, True), (8, False)))
    assert [trace.graded(budget) for budget in (1, 2, 4, 8, 10)] == [False, False, True, False, False]
    assert [trace.first_hit(budget) for budget in (2, 4, 10)] == [False, True, True]
    assert not trace.ended(10)


def test_tasks_that_a_level_lacks_are_left_out_and_said() -> None:
    rows = [*level(8, tasks=3), *level(32, tasks=4)]
    (found,) = analyse(rows, Axis.STEPS)
    assert found.tasks == 3
    assert "t3" in found.notes[0]


def test_another_limit_that_moves_along_is_said() -> None:
    rows = [row("one", "a", 0, "0", budget_steps=8, budget_minutes=1.0), row("one", "a", 0, "1", budget_steps=16)]
    (found,) = analyse(rows, Axis.STEPS)
    assert "other limits differ" in found.notes[0]


def test_no_budget_on_the_axis_is_an_error() -> None:
    with pytest.raises(UserError, match="no run has a budget in tokens"):
        analyse(level(8), Axis.TOKENS)


@pytest.mark.slow
def test_models_of_further_attempts_stop_at_four_times_the_runs() -> None:
    rng = np.random.default_rng(3)
    panel = Panel.of(rng.random((20, 6)) < rng.beta(0.5, 0.7, 20)[:, None])
    found = envelope(panel, draws=5)
    assert found
    assert (found.solid, found.limit) == (3, 24)
    assert set(found.at(24).models) == {"beta-binomial", "with impossible tasks", "power law"}
    with pytest.raises(ValueError, match="beyond 24"):
        found.at(32)
    assert envelope(Panel.of([[1.0, 0.0]] * 5)) is None
