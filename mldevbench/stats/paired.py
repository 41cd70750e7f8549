"""Two agents on the same tasks: exact tests of paired differences and intervals for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import special

from mldevbench.stats.interval import CONFIDENCE, Interval, normal_quantile, student_quantile

ENUMERATED = 20
DRAWN = 20_000
LATTICE = 1_000_000
TOLERANCE = 1e-9


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the exact two-sided p of the discordant pairs."""
    few, many = sorted((only_first, only_second))
    return min(1.0, 2 * float(special.bdtr(few, few + many, 0.5))) if many else 1.0


def mcnemar_mid(only_first: int, only_second: int) -> float:
    """Return the mid-p: the exact p less half of what was seen, on either side."""
    few, total = min(only_first, only_second), only_first + only_second
    return mcnemar(only_first, only_second) - math.comb(total, few) / 2**total if only_first != only_second else 1.0


@dataclass(frozen=True)
class SignFlip:
    p_value: float
    exact: bool


def sign_flip(differences: npt.ArrayLike, seed: int = 0) -> SignFlip:
    """Test that differences are as likely to fall either way; exact wherever it can be."""
    values = np.asarray(differences, float)
    values = values[np.abs(values) > TOLERANCE]
    steps = _on_lattice(values)
    if steps is not None:
        return SignFlip(_lattice_p(steps), True)
    if len(values) <= ENUMERATED:
        return SignFlip(_enumerated_p(values), True)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (DRAWN, len(values)))
    hits = int((np.abs(signs @ values) >= abs(values.sum()) - TOLERANCE).sum())
    return SignFlip((hits + 1) / (DRAWN + 1), False)


def _on_lattice(values: np.ndarray) -> list[int] | None:
    """Return the values as whole multiples of one step, as means of few runs are; None if they aren't."""
    fractions = [Fraction(float(value)).limit_denominator(1000) for value in values]
    if any(abs(float(fraction) - value) > TOLERANCE for fraction, value in zip(fractions, values, strict=True)):
        return None
    scale = math.lcm(*(fraction.denominator for fraction in fractions)) if fractions else 1
    steps = [int(fraction * scale) for fraction in fractions]
    return steps if sum(map(abs, steps)) <= LATTICE // max(len(steps), 1) else None


def _lattice_p(steps: list[int]) -> float:
    reach = sum(map(abs, steps))
    chance = np.zeros(2 * reach + 1)
    chance[reach] = 1.0
    for step in map(abs, steps):
        chance = (np.roll(chance, step) + np.roll(chance, -step)) / 2
    seen = abs(sum(steps))
    return min(1.0, float(chance[np.abs(np.arange(-reach, reach + 1)) >= seen].sum()))


def _enumerated_p(values: np.ndarray) -> float:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate((sums + value, sums - value))
    return float((np.abs(sums) >= abs(values.sum()) - TOLERANCE).mean())


@dataclass(frozen=True)
class PairedMean:
    mean: float
    error: float
    p_value: float
    interval: Interval


def paired_t(differences: npt.ArrayLike, confidence: float = CONFIDENCE) -> PairedMean:
    """Return the mean difference over tasks with Student's interval."""
    values = np.asarray(differences, float)
    tasks, mean = len(values), float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(tasks)) if tasks > 1 else float("nan")
    if not error > 0:
        p_value = 1.0 if tasks > 1 and mean == 0 else float("nan")  # without spread there is nothing to judge by
        return PairedMean(mean, error, p_value, Interval(mean - error, mean + error))
    p_value = 2 * float(special.stdtr(tasks - 1, -abs(mean) / error))
    reach = student_quantile(tasks - 1, confidence) * error
    return PairedMean(mean, error, p_value, Interval(mean - reach, mean + reach))


def tango(only_first: int, only_second: int, total: int, confidence: float = CONFIDENCE) -> Interval:
    """Return Tango's score interval for the difference of paired proportions."""
    from scipy.optimize import brentq

    quantile, seen = normal_quantile(confidence), (only_first - only_second) / total

    def excess(difference: float, side: float) -> float:
        return _tango_score(only_first, only_second, total, difference) - side * quantile

    inside = 1 - 1e-12
    low = -1.0 if seen <= -inside else brentq(excess, -inside, seen, args=(1.0,), xtol=1e-14)
    high = 1.0 if seen >= inside else brentq(excess, seen, inside, args=(-1.0,), xtol=1e-14)
    return Interval(float(low), float(high))  # pyright: ignore[reportArgumentType] - brentq without full_output


def _tango_score(first: int, second: int, total: int, difference: float) -> float:
    """Return the score statistic at a difference; the nuisance rate is its constrained maximum."""
    quadratic = 2 * total
    linear = -first - second + (2 * total - first + second) * difference
    constant = -second * difference * (1 - difference)
    nuisance = (math.sqrt(max(linear**2 - 4 * quadratic * constant, 0.0)) - linear) / (2 * quadratic)
    variance = total * (2 * nuisance + difference * (1 - difference))
    distance = first - second - total * difference
    if variance <= 0:
        return 0.0 if distance == 0 else math.copysign(math.inf, distance)
    return distance / math.sqrt(variance)


def bonett_price(only_first: int, only_second: int, total: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the adjusted Wald interval of Bonett and Price, a little wide and simple."""
    first, second = (only_first + 1) / (total + 2), (only_second + 1) / (total + 2)
    difference = first - second
    reach = normal_quantile(confidence) * math.sqrt((first + second - difference**2) / (total + 2))
    return Interval(difference - reach, difference + reach).clipped(-1.0, 1.0)
