"""The same numbers from statsmodels and scipy, where they have them."""

from __future__ import annotations

import numpy as np
import pytest

from mldevbench.stats.censor import success_by
from mldevbench.stats.contingency import fisher
from mldevbench.stats.fit import fit_logistic
from mldevbench.stats.interval import clopper_pearson, wilson
from mldevbench.stats.multiplicity import benjamini_hochberg, holm
from mldevbench.stats.paired import mcnemar, paired_t, sign_flip
from mldevbench.stats.panel import Panel, clustered_error, components

# They take seconds to import, so each test imports what it asks.
pytestmark = pytest.mark.slow

RNG = np.random.default_rng(11)


@pytest.mark.parametrize(("passed", "total"), [(0, 6), (3, 7), (14, 30), (149, 150), (5, 5)])
def test_intervals(passed: int, total: int) -> None:
    from statsmodels.stats.proportion import proportion_confint

    # Theirs may stick out of the unit range by a rounding error.
    assert proportion_confint(passed, total, method="wilson") == pytest.approx(wilson(passed, total), abs=1e-12)
    theirs = proportion_confint(passed, total, method="beta")
    assert theirs == pytest.approx(clopper_pearson(passed, total), abs=1e-9)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (9, 0), (10, 1), (4, 4), (13, 5)])
def test_mcnemar(first: int, second: int) -> None:
    from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar

    assert their_mcnemar([[3, first], [second, 3]], exact=True).pvalue == pytest.approx(mcnemar(first, second))


def test_corrections() -> None:
    from statsmodels.stats.multitest import multipletests

    raw = RNG.random(12).tolist()
    assert multipletests(raw, method="holm")[1] == pytest.approx(holm(raw))
    assert multipletests(raw, method="fdr_bh")[1] == pytest.approx(benjamini_hochberg(raw))


def test_clustered_error() -> None:
    from statsmodels.regression.linear_model import OLS

    outcomes = [RNG.integers(0, 2, size) for size in (5, 5, 4, 3, 5, 1)]
    values = np.concatenate(outcomes).astype(float)
    groups = np.repeat(np.arange(len(outcomes)), [len(task) for task in outcomes])
    model = OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}
    )
    # Theirs also corrects for the one parameter: (N - 1) / (N - k) is 1 here.
    assert model.bse[0] == pytest.approx(clustered_error(Panel.of(outcomes)))


def test_analysis_of_variance() -> None:
    import scipy.stats

    outcomes = [RNG.integers(0, 2, size) for size in (5, 4, 5, 3)]
    found = components(Panel.of(outcomes))
    theirs = scipy.stats.f_oneway(*outcomes)
    assert (theirs.statistic, theirs.pvalue) == pytest.approx((found.ratio, found.p_value))


def test_logistic() -> None:
    from statsmodels.discrete.discrete_model import Logit

    budgets = np.repeat([1, 2, 4, 8, 16, 32], 10)
    passed = (RNG.random(60) < 1 / (1 + np.exp(3 - np.log2(budgets)))).astype(float)
    design = np.stack((np.ones(60), np.log2(budgets)), axis=1)
    found = fit_logistic(budgets, passed)
    assert found
    assert Logit(passed, design).fit(disp=0).params == pytest.approx([found.intercept, found.slope])


def test_paired_differences() -> None:
    import scipy.stats

    values = RNG.normal(0.3, 1, 12)
    assert paired_t(values).p_value == pytest.approx(scipy.stats.ttest_1samp(values, 0).pvalue)
    theirs = scipy.stats.permutation_test(
        (values,), lambda x, axis: np.mean(x, axis=axis), permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip(values).p_value == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize(("passes", "totals"), [((3, 9), (10, 10)), ((0, 4), (7, 5)), ((1, 1), (2, 9))])
def test_fisher(passes: tuple[int, int], totals: tuple[int, int]) -> None:
    import scipy.stats

    table = [[passed, total - passed] for passed, total in zip(passes, totals, strict=True)]
    assert scipy.stats.fisher_exact(table)[1] == pytest.approx(fisher(passes, totals))


def test_censored() -> None:
    import scipy.stats

    at = RNG.integers(1, 20, 40).astype(float)
    lost = RNG.random(40) < 0.3
    data = scipy.stats.CensoredData.right_censored(at, lost)
    grid = [1, 5, 10, 15]
    assert scipy.stats.ecdf(data).cdf.evaluate(grid) == pytest.approx(success_by(grid, at, ~lost, lost, 20))
