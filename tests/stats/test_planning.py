"""Plans: seeds, prices, and what no number of seeds can tell."""

from __future__ import annotations

import pytest
from stats.making import rows_of

from mldevbench.planner import Assumption, Goal, forecast, from_pilot


def test_seeds_follow_the_formulas() -> None:
    found = forecast(Assumption("said"), Goal(half_width=0.03, effect=0.10))
    assert found.seeds_for_half_width == 14
    assert found.seeds_for_effect_population is None
    assert found.population_floor == pytest.approx(0.144, abs=1e-3)
    assert [point.seeds for point in found.points] == sorted({point.seeds for point in found.points})
    reached = next(point for point in found.points if point.seeds == 14)
    assert reached.fixed <= 0.03


def test_more_seeds_never_widen_and_never_pass_the_floor() -> None:
    found = forecast(Assumption("said"), Goal())
    for one, other in zip(found.points, found.points[1:], strict=False):
        assert other.fixed < one.fixed
        assert found.population_floor < other.population < one.population
        assert other.effect_population > found.effect_floor


def test_prices_are_a_range_over_all_runs() -> None:
    found = forecast(Assumption("said", tasks=10, usd=(0.4, 0.5, 0.6)), Goal(agents=3))
    assert found.points[0].runs == 30
    assert found.points[0].usd == pytest.approx((12, 15, 18))
    assert found.points[0].gpu_hours is None


def test_a_pilot_teaches_variance_and_price() -> None:
    rows = [*rows_of("one", {"a": "110", "b": "000"}), *rows_of("one", {"c": "101"}, cost_usd=1.1)]
    found = from_pilot(rows, "pilot")
    assert found.tasks == 3
    assert found.within == pytest.approx((1 / 3 + 0 + 1 / 3) / 3)
    assert found.usd
    assert found.usd[1] == pytest.approx(0.7)
    assert found.usd[0] < 0.7 < found.usd[2]


def test_a_pilot_of_one_seed_or_of_unknown_price_says_less() -> None:
    found = from_pilot(rows_of("one", {"a": "1", "b": "0"}, cost_usd=None), "pilot", tasks=30)
    assert (found.within, found.tasks, found.usd) == (Assumption("").within, 30, None)


def test_a_pilot_without_spread_promises_nothing() -> None:
    found = from_pilot(rows_of("one", dict.fromkeys("abcd", "111")), "pilot", tasks=30)
    assert found.usual == ("within", "between")
    assert forecast(found, Goal()).population_floor == forecast(Assumption("usual"), Goal()).population_floor > 0.1
