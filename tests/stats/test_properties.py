"""What must hold whatever the numbers are."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from mldevbench.stats.bootstrap import statistic_interval
from mldevbench.stats.contingency import fisher
from mldevbench.stats.cost import cost_per_success, pareto, pareto_membership
from mldevbench.stats.fit import fit_beta_binomial, fit_logistic
from mldevbench.stats.interval import clopper_pearson, jeffreys, uniform_prior, wilson
from mldevbench.stats.multiplicity import benjamini_hochberg, holm
from mldevbench.stats.nested import nested_components
from mldevbench.stats.paired import bonett_price, mcnemar, paired_t, sign_flip, tango
from mldevbench.stats.panel import Panel, clustered_error, components
from mldevbench.stats.power import detectable_effect, mcnemar_power, seeds_for_effect, seeds_for_half_width
from mldevbench.stats.rate import Target, estimate
from mldevbench.stats.repeat import consistency, pass_all_k, pass_at_k, score_at_k
from mldevbench.stats.sequence import anytime_paired, confidence_sequence
from mldevbench.stats.void import void_bounds, void_favour

COUNTS = [(passed, total) for total in (1, 2, 3, 7, 30, 150) for passed in range(total + 1)]
INTERVALS = (wilson, clopper_pearson, jeffreys, confidence_sequence)


@pytest.mark.parametrize("interval", [*INTERVALS, uniform_prior])
def test_intervals_lie_in_the_unit_range_and_mirror(interval) -> None:
    for passed, total in COUNTS:
        found, other = interval(passed, total), interval(total - passed, total)
        assert 0 <= found.low < found.high <= 1
        assert (1 - other.high, 1 - other.low) == pytest.approx(found, abs=1e-9)


@pytest.mark.parametrize("interval", INTERVALS)
def test_intervals_contain_the_estimate(interval) -> None:
    for passed, total in COUNTS:
        found = interval(passed, total)
        assert found.low <= passed / total <= found.high


def test_the_sequence_is_wider_than_one_look() -> None:
    for passed, total in COUNTS:
        assert confidence_sequence(passed, total).half_width > wilson(passed, total).half_width * 0.99


@pytest.mark.parametrize(("passed", "total"), [(-1, 3), (4, 3), (0, 0)])
def test_what_is_no_proportion_is_refused(passed: int, total: int) -> None:
    with pytest.raises(ValueError, match="no proportion"):
        wilson(passed, total)


def test_more_attempts_never_lower_pass_at_k_nor_raise_pass_all_k() -> None:
    for total, passed in itertools.product((1, 5, 12), range(13)):
        if passed <= total:
            at = [pass_at_k(total, passed, k) for k in range(1, total + 1)]
            every = [pass_all_k(total, passed, k) for k in range(1, total + 1)]
            assert at == sorted(at)
            assert every == sorted(every, reverse=True)
            assert at[0] == pytest.approx(every[0]) == pytest.approx(passed / total)


def test_fewer_runs_than_k_are_undefined() -> None:
    assert math.isnan(pass_at_k(2, 2, 3))
    assert math.isnan(pass_all_k(2, 2, 3))
    assert math.isnan(score_at_k([1.0], 2))
    assert math.isnan(consistency(1, 1))


def test_best_of_k_scores_is_the_mean_over_all_choices() -> None:
    scores = [0.3, 0.8, 0.1, 0.5, 0.5]
    for k in range(1, 6):
        expected = np.mean([max(chosen) for chosen in itertools.combinations(scores, k)])
        assert score_at_k(scores, k) == pytest.approx(expected)


def test_sign_flip_is_mcnemar_with_one_seed_and_knows_no_order_nor_side() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        values = rng.choice([-1.0, 0.0, 1.0], 30)
        found = sign_flip(values)
        assert found.exact
        assert found.p_value == pytest.approx(mcnemar(int((values > 0).sum()), int((values < 0).sum())))
        assert sign_flip(-values).p_value == pytest.approx(found.p_value)
        assert sign_flip(rng.permutation(values)).p_value == pytest.approx(found.p_value)


def test_sign_flip_agrees_on_and_off_the_lattice() -> None:
    values = np.array([0.2, -0.4, 0.6, 0.2, 0.2, 0.8, -0.2, 0.4])
    flips = np.array(list(itertools.product([-1, 1], repeat=len(values))))
    brute = (np.abs(flips @ values) >= abs(values.sum()) - 1e-9).mean()
    assert sign_flip(values).p_value == pytest.approx(brute)
    shifted = values * math.pi  # no lattice holds these
    assert sign_flip(shifted).exact
    assert sign_flip(shifted).p_value == pytest.approx(brute)


def test_many_odd_differences_are_drawn_and_never_zero() -> None:
    values = np.abs(np.random.default_rng(2).normal(1, 0.1, 40))
    found = sign_flip(values)
    assert not found.exact
    assert 0 < found.p_value < 0.001


def test_difference_intervals_contain_the_difference_and_mirror() -> None:
    for first, second in itertools.product(range(0, 31, 3), repeat=2):
        if first + second <= 30:
            found, other = tango(first, second, 30), tango(second, first, 30)
            assert found.low <= (first - second) / 30 <= found.high
            assert found == pytest.approx((-other.high, -other.low), abs=1e-9)
            assert -1 <= bonett_price(first, second, 30).low <= bonett_price(first, second, 30).high <= 1


def test_no_difference_at_all_gives_no_certainty() -> None:
    assert mcnemar(0, 0) == sign_flip([0.0, 0.0]).p_value == 1.0
    assert tango(0, 0, 30).high > 0.1
    assert paired_t([0.0, 0.0]).p_value == 1.0


def test_corrections_keep_the_order_and_never_shrink() -> None:
    raw = np.random.default_rng(3).random(20).tolist()
    for correct in (holm, benjamini_hochberg):
        corrected = correct(raw)
        assert all(one >= other for one, other in zip(corrected, raw, strict=True))
        ordered = np.asarray(corrected)[np.argsort(raw)]
        assert (np.diff(ordered) >= 0).all()
        assert max(corrected) <= 1


def test_clustered_error_is_the_error_of_task_means_when_balanced() -> None:
    rng = np.random.default_rng(4)
    panel = Panel.of(rng.random((30, 5)) < rng.random((30, 1)))
    assert clustered_error(panel) == pytest.approx(panel.means.std(ddof=1) / math.sqrt(30))
    assert estimate(panel, Target.POPULATION).error == pytest.approx(clustered_error(panel))


def test_nested_components_are_the_analysis_of_variance() -> None:
    outcomes = np.random.default_rng(5).integers(0, 2, (12, 4)).tolist()
    between, within = nested_components(outcomes, 2)
    found = components(Panel.of(outcomes))
    assert between == pytest.approx(found.between)
    assert within == pytest.approx(found.within)


def test_nested_components_are_found_again() -> None:
    rng = np.random.default_rng(6)
    tree = []
    for _ in range(300):
        task = rng.normal(0, 2)
        instances = [task + rng.normal(0, 1) for _ in range(3)]
        tree.append([[instance + rng.normal(0, 0.5) for _ in range(4)] for instance in instances])
    assert nested_components(tree, 3) == pytest.approx([4, 1, 0.25], rel=0.15)


def test_a_level_without_repeats_is_unknown_not_zero() -> None:
    assert nested_components([[[1.0]], [[0.0]]], 3)[1:] == [None, None]


@pytest.mark.parametrize("target", list(Target))
def test_rates_without_spread_still_have_width(target: Target) -> None:
    for value in (0.0, 1.0):
        found = estimate(Panel.of([[value] * 5] * 30), target)
        assert found.interval
        assert found.interval.half_width > 0.01
        assert found.interval.low <= value <= found.interval.high


def test_other_tasks_are_never_surer_than_these() -> None:
    panel = Panel.of(np.roll([1.0, 1.0, 0.0, 1.0, 0.0], place) for place in range(30))
    these, like_these = (estimate(panel, target).interval for target in Target)
    assert these and like_these
    assert like_these.half_width >= these.half_width > 0.05


def test_one_seed_says_nothing_of_these_tasks_and_wilson_of_others() -> None:
    panel = Panel.of([[1.0]] * 14 + [[0.0]] * 16)
    assert estimate(panel, Target.FIXED).interval is None
    assert estimate(panel, Target.POPULATION).interval == pytest.approx(wilson(14, 30))


def test_tasks_weigh_the_same_however_often_they_ran() -> None:
    assert Panel.of([[1.0] * 99, [0.0], []]).rate == 0.5


def test_void_bounds_enclose_the_rate_and_favour_is_exact() -> None:
    bounds = void_bounds([3, 0, 0], [4, 5, 0], [1, 0, 5])
    assert bounds == pytest.approx(((3 / 5 + 0 + 0) / 3, (4 / 5 + 0 + 1) / 3))
    assert void_favour([0, 0], [30, 30]) == 1.0
    assert void_favour([6, 0], [30, 30]) == pytest.approx(0.0237, abs=1e-4)
    assert fisher([5, 0, 0], [5, 5, 5]) == pytest.approx(3 / math.comb(15, 5))


def test_seeds_cannot_show_what_tasks_hide() -> None:
    assert seeds_for_effect(0.10, 30, effect_variance=1 / 9, within=1 / 6) is None
    seeds = seeds_for_effect(0.10, 30, effect_variance=0.0, within=1 / 6)
    assert seeds
    assert detectable_effect(30, seeds, effect_variance=0.0, within=1 / 6) <= 0.10
    assert detectable_effect(30, seeds - 1, effect_variance=0.0, within=1 / 6) > 0.10
    assert [seeds_for_half_width(width, 30, 0.092) for width in (0.05, 0.03)] == [5, 14]


def test_exact_power_at_one_seed() -> None:
    assert mcnemar_power(30, 0.20, 0.05) == pytest.approx(0.235, abs=5e-4)
    assert mcnemar_power(30, 0.30, 0.05) == pytest.approx(0.570, abs=5e-4)
    assert mcnemar(6, 0) < 0.05 < mcnemar(5, 0)


def test_looking_often_keeps_the_error() -> None:
    rng = np.random.default_rng(7)
    wrong = 0
    for _ in range(300):
        firsts = np.cumsum(rng.integers(0, 2, 60))
        wrong += any(anytime_paired(int(first), n + 1 - int(first)) < 0.05 for n, first in enumerate(firsts))
    assert wrong / 300 <= 0.05


def test_no_success_has_no_finite_price() -> None:
    found = cost_per_success([1.0, 2.0], [0, 0])
    assert math.isinf(found.ratio)
    assert found.spent == 3.0


def test_the_front_is_beaten_by_nobody_and_membership_sums_to_the_front() -> None:
    rng = np.random.default_rng(8)
    points = [(float(cost), float(success)) for cost, success in rng.random((20, 2))]
    front = pareto(points)
    for place in front:
        assert not any(c <= points[place][0] and s > points[place][1] for c, s in points)
    shares = pareto_membership([[1.0] * 6, [2.0] * 6], [[1.0] * 6, [0.5] * 6], draws=50)
    assert shares == [1.0, 0.0]


@pytest.mark.slow
def test_impossible_tasks_are_told_from_hard_ones() -> None:
    rng = np.random.default_rng(9)
    rates = np.where(rng.random(400) < 0.35, 0.0, rng.beta(8, 2, 400))
    found = fit_beta_binomial([8] * 400, rng.binomial(8, rates).tolist(), inflated=True)
    assert found.impossible == pytest.approx(0.35, abs=0.06)
    assert float(found.pass_at(1000)) == pytest.approx(1 - found.impossible, abs=0.01)


def test_outcomes_that_split_at_one_budget_have_no_logistic() -> None:
    assert fit_logistic([1, 2, 4, 8], [0, 0, 1, 1]) is None
    assert fit_logistic([4, 4, 4], [0, 1, 1]) is None


def test_bootstrap_of_a_mean_is_near_its_error() -> None:
    values = np.random.default_rng(10).random(60)
    found = statistic_interval(60, lambda chosen: float(values[chosen].mean()))
    assert found.half_width == pytest.approx(1.96 * values.std(ddof=1) / math.sqrt(60), rel=0.1)
