"""Planning: what a number of tasks and seeds can show."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from mldevbench.stats.interval import normal_quantile
from mldevbench.stats.paired import mcnemar

ALPHA = 0.05
POWER = 0.8


def _both_quantiles(alpha: float, power: float) -> float:
    return float(special.ndtri(1 - alpha / 2) + special.ndtri(power))


def detectable_effect(
    tasks: int,
    seeds: float,
    *,
    effect_variance: float,
    within: float,
    alpha: float = ALPHA,
    power: float = POWER,
) -> float:
    """Return the smallest difference of two agents that is seen with this power.

    `effect_variance` is how the true difference varies over tasks: 0 for these tasks only. `within` is the variance
    between runs of one task, the same for both agents.
    """
    spread = effect_variance + 2 * within / seeds
    return _both_quantiles(alpha, power) * math.sqrt(spread / tasks)


def tasks_for_effect(effect: float, effect_variance: float, alpha: float = ALPHA, power: float = POWER) -> float:
    """Return how many tasks show an effect if seeds were unlimited."""
    return _both_quantiles(alpha, power) ** 2 * effect_variance / effect**2


def seeds_for_half_width(half_width: float, tasks: int, within: float, confidence: float = 0.95) -> int:
    """Return the seeds that make the `fixed` interval this narrow."""
    quantile = normal_quantile(confidence)
    return max(1, math.ceil(quantile**2 * within / (tasks * half_width**2) - 1e-9))


def seeds_for_effect(
    effect: float,
    tasks: int,
    *,
    effect_variance: float,
    within: float,
    alpha: float = ALPHA,
    power: float = POWER,
) -> int | None:
    """Return the seeds per agent that show an effect; None if no number of seeds does on so few tasks."""
    room = (effect / _both_quantiles(alpha, power)) ** 2 * tasks - effect_variance
    return None if room <= 0 else max(1, math.ceil(2 * within / room - 1e-9))


def mcnemar_power(tasks: int, only_first: float, only_second: float, alpha: float = ALPHA) -> float:
    """Return the exact power of McNemar's test at one seed, given the chances of discordant tasks."""
    power = 0.0
    discordant = only_first + only_second
    for total in range(tasks + 1):
        weight = math.comb(tasks, total) * discordant**total * (1 - discordant) ** (tasks - total)
        share = only_first / discordant if discordant else 0.0
        rejecting = [first for first in range(total + 1) if mcnemar(first, total - first) <= alpha]
        chances = [math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in rejecting]
        power += weight * float(np.sum(chances))
    return power
