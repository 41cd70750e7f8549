"""Tasks that go either way: how sure that is, and how likely it is to be seen."""

from __future__ import annotations

from scipy import special

LOW, HIGH = 0.1, 0.9


def both_outcomes_chance(rate: float, runs: int) -> float:
    """Return the chance to see both a pass and a failure."""
    return 1 - rate**runs - (1 - rate) ** runs


def mixed_belief(passed: int, total: int, low: float = LOW, high: float = HIGH) -> float:
    """Return the posterior chance (Jeffreys) that a task's rate is neither near 0 nor near 1."""
    alpha, beta = passed + 0.5, total - passed + 0.5
    return float(special.betainc(alpha, beta, high) - special.betainc(alpha, beta, low))
