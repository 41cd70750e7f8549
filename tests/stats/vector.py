"""The calls that reproduce each test vector, by the first part of its id."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mldevbench.reference import paper_rows
from mldevbench.stats import bootstrap, censor, cost, fit, flaky, interval, multiplicity, panel, power, repeat
from mldevbench.stats import paired as pairs
from mldevbench.stats import sequence as looks

PANEL = panel.Panel.of([[1, 1, 1, 1], [1, 1, 0, 1], [0, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]])
LABELS = {
    "ReAct-Sonnet": "react-sonnet", "OH-Sonnet": "openhands-sonnet", "Aide-4o": "aide-4o", "ReAct-4o": "react-4o",
}  # fmt: skip
PAPER_PAIRS = [
    ("react-sonnet", "openhands-sonnet"), ("react-sonnet", "aide-4o"), ("react-sonnet", "react-4o"),
    ("openhands-sonnet", "aide-4o"), ("openhands-sonnet", "react-4o"), ("aide-4o", "react-4o"),
]  # fmt: skip


def wald(passed: int, total: int) -> Sequence[float]:
    """The interval that the package doesn't ship."""
    rate = passed / total
    reach = interval.normal_quantile() * math.sqrt(rate * (1 - rate) / total)
    return [rate - reach, rate + reach]


INTERVALS: dict[str, Callable[[int, int], Sequence[float]]] = {
    "wald": wald,
    "wilson": interval.wilson,
    "cp": interval.clopper_pearson,
    "jeffreys": interval.jeffreys,
    "beta11": interval.uniform_prior,
}


def discordant(first: str, second: str) -> tuple[int, int]:
    passed = {(row.label, row.task): row.outcome == "passed" for row in paper_rows()}
    tasks = {task for _, task in passed}
    both = [(passed[first, task], passed[second, task]) for task in tasks]
    return sum(a and not b for a, b in both), sum(b and not a for a, b in both)


def _ci(words: list[str]) -> Sequence[float]:
    return INTERVALS[words[2]](int(words[0]), int(words[1]))


def _mcnemar(words: list[str]) -> Sequence[float]:
    if words[0] == "raw":
        first, second = (int(part) for part in words[1].split(","))
        return [pairs.mcnemar(first, second), pairs.mcnemar_mid(first, second)]
    first, second = discordant(*(LABELS[name] for name in words[0].split("~")))
    tests = [pairs.mcnemar(first, second), pairs.mcnemar_mid(first, second)]
    return [*tests, *pairs.tango(first, second, 30), *pairs.bonett_price(first, second, 30)]


def binomial(total: int, rate: float) -> np.ndarray:
    """The chance of each number of successes."""
    return np.array([math.comb(total, hits) * rate**hits * (1 - rate) ** (total - hits) for hits in range(total + 1)])


def _raw_values() -> list[float]:
    return [pairs.mcnemar(*discordant(*pair)) for pair in PAPER_PAIRS]


def _pass(words: list[str]) -> Sequence[float]:
    if words[0] != "unbiased":
        total, passed, k = (int(part) for part in words[0].split(","))
        return [repeat.pass_at_k(total, passed, k), repeat.pass_all_k(total, passed, k)]
    rate, total, k = (float(part) for part in words[1].split(","))
    chances = binomial(int(total), rate)
    unbiased = [repeat.pass_at_k(int(total), passed, int(k)) for passed in range(int(total) + 1)]
    plug_in = [1 - (1 - passed / total) ** k for passed in range(int(total) + 1)]
    return [float(chances @ unbiased), float(chances @ plug_in)]


def _panel(words: list[str]) -> Sequence[float]:
    found = panel.components(PANEL)
    totals, passes = PANEL.totals.tolist(), PANEL.passes.astype(int).tolist()
    each = list(zip(totals, passes, strict=True))
    if words[0] == "seplan":
        seeds = int(words[1])
        return [
            panel.population_error(found.between, found.within, 5, seeds),
            panel.fixed_error(found.within, 5, seeds),
        ]
    answers: dict[str, Callable[[], Sequence[float]]] = {
        "X": lambda: [PANEL.rate],
        "anova": lambda: [
            found.mean_square_between, found.mean_square_within, found.between, found.intraclass, found.ratio,
            found.p_value,
        ],
        "passk": lambda: [repeat.mean_over_tasks(totals, passes, k)[0] for k in range(1, 5)],
        "passhatk": lambda: [repeat.mean_over_tasks(totals, passes, k)[1] for k in range(1, 5)],
        "consistency": lambda: [
            float(np.mean([measure(*one) for one in each]))
            for measure in (repeat.plug_in_consistency, repeat.consistency)
        ],
        "bootse": lambda: bootstrap.ideal_errors(PANEL),
    }  # fmt: skip
    return answers[words[0]]()


def _consistency(words: list[str]) -> Sequence[float]:
    rate, total = float(words[1].split(",")[0]), int(words[1].split(",")[1])
    chances = binomial(total, rate)
    measures = (repeat.plug_in_consistency, repeat.consistency)
    return [
        (2 * rate - 1) ** 2,
        *(float(chances @ [measure(total, passed) for passed in range(total + 1)]) for measure in measures),
    ]


def _paired(_: list[str]) -> Sequence[float]:
    differences = [0, 0.25, 0.25, 0.25, 0.25]
    mean = pairs.paired_t(differences)
    return [mean.mean, mean.error, mean.p_value, pairs.sign_flip(differences).p_value]


def _power(words: list[str]) -> Sequence[float]:
    if words[0] == "n":
        return [power.tasks_for_effect(float(words[1]), 1 / 9)]
    tasks, seeds = int(words[1]), int(words[2])
    return [power.detectable_effect(tasks, seeds, effect_variance=variance, within=1 / 6) for variance in (1 / 9, 0.0)]


def _flaky(words: list[str]) -> Sequence[float]:
    rate, runs = words[1].split(",")
    return [flaky.both_outcomes_chance(float(rate), int(runs))]


def _beta_binomial(words: list[str]) -> Sequence[float]:
    if words[0] == "passk":
        return fit.BetaBinomial(0.4, 0.6, 0.0).pass_at([1, 2, 5, 10, 100]).tolist()
    found = fit.fit_beta_binomial([4] * 10, [4, 3, 2, 1, 0, 0, 4, 4, 0, 0])
    return [found.alpha, found.beta, found.likelihood, float(found.pass_at(8)), float(found.pass_all(8))]


def _logistic(_: list[str]) -> Sequence[float]:
    found = fit.fit_logistic(np.repeat([1, 2, 4, 8, 16], 3), [int(digit) for digit in "000010010110111"])
    assert found
    return [found.intercept, found.slope, found.log2_half, found.log2_half_error, found.half]


def _censored(_: list[str]) -> Sequence[float]:
    passed = [True] * 4 + [False] * 4
    lost = [False] * 4 + [True] + [False] * 3
    return censor.success_by([3, 5, 8, 12, 20], [3, 5, 8, 12, 5, 20, 20, 20], passed, lost, 20).tolist()


def _pareto(_: list[str]) -> Sequence[float]:
    points = [(1.0, 0.3), (2.0, 0.5), (4.0, 0.45), (5.0, 0.7), (8.0, 0.7)]
    assert cost.pareto(points) == [0, 1, 3]
    return [cost.hypervolume(points, (10.0, 0.0))]


def _cost(words: list[str]) -> Sequence[float]:
    sides = [[row for row in paper_rows() if row.label == label] for label in ("react-sonnet", "openhands-sonnet")]
    usd = [[row.cost_usd for row in side if row.cost_usd is not None] for side in sides]
    if words[0] == "paired":
        found = cost.cost_ratio(*usd)
        return [found.ratio, found.p_value]
    tokens = [sum(row.total_tokens for row in side) for side in sides]
    passes = [[row.outcome == "passed" for row in side if row.cost_usd is not None] for side in sides]
    ratios = [cost.cost_per_success(spent, passed).ratio for spent, passed in zip(usd, passes, strict=True)]
    return [*(sum(side) for side in usd), *tokens, *ratios]


ANSWERS: dict[str, Callable[[list[str]], Sequence[float]]] = {
    "ci": _ci,
    "mcnemar": _mcnemar,
    "holm": lambda _: multiplicity.holm(_raw_values()),
    "bh": lambda _: multiplicity.benjamini_hochberg(_raw_values()),
    "pass": _pass,
    "panel": _panel,
    "consistency": _consistency,
    "paired": _paired,
    "power": _power,
    "flaky": _flaky,
    "cs": lambda words: looks.confidence_sequence(int(words[0]), int(words[1])),
    "bb": _beta_binomial,
    "epl": lambda _: fit.PowerLaw(1.8, 0.45).pass_at([1, 2, 4, 8, 16, 32, 64]).tolist(),
    "logit": _logistic,
    "km": _censored,
    "pareto": _pareto,
    "cost": _cost,
}


def answer(name: str) -> Sequence[float]:
    kind, *words = name.split("/")
    return ANSWERS[kind](words)
