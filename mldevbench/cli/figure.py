"""How the studies' commands write numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mldevbench.rates import Rate
    from mldevbench.stats.cost import PerSuccess
    from mldevbench.stats.interval import Interval


def percent(rate: float | None) -> str:
    return "–" if rate is None or math.isnan(rate) else f"{100 * rate:.0f}%"


def points(difference: float) -> str:
    return "–" if math.isnan(difference) else f"{100 * difference:+.1f}".replace("-", "−")


def bracket(interval: Interval | None, signed: bool = False) -> str:
    """Write an interval in percent, or in points with their sign."""
    if interval is None or math.isnan(interval.low):
        return "–"
    low, high = (points(edge) if signed else f"{100 * edge:.0f}" for edge in interval)
    return f"[{low}, {high}]"


def p_text(value: float) -> str:
    return f"{value:.3g}"


def rate_text(rate: Rate) -> str:
    return f"{percent(rate.population.rate)} ({rate.passed}/{rate.judged})"


def per_success_text(found: PerSuccess | None) -> str:
    if found is None:
        return "unknown"
    return f">${found.spent:.2f}" if math.isinf(found.ratio) else f"${found.ratio:.2f}"


def seeds_text(seeds: tuple[int, int]) -> str:
    return str(seeds[0]) if seeds[0] == seeds[1] else f"{seeds[0]}–{seeds[1]}"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(names: list[str], most: int) -> str:
    """Join names, the first so many of them."""
    if not names:
        return "none"
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
