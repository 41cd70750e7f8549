"""How reports write numbers: unknown is a dash, never 0."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mldevbench.stats.interval import Interval

UNKNOWN = "–"


def percent(rate: float | None) -> str:
    return UNKNOWN if rate is None or math.isnan(rate) else f"{100 * rate:.0f}%"


def bracket(interval: Interval | None) -> str:
    """Write an interval in percent."""
    if interval is None or math.isnan(interval.low):
        return UNKNOWN
    return f"[{100 * interval.low:.0f}, {100 * interval.high:.0f}]"


def dollars(usd: float | None) -> str:
    return UNKNOWN if usd is None else f"${usd:.3f}"


def whole(number: float | None) -> str:
    return UNKNOWN if number is None else f"{number:,.0f}"


def short(number: float | None) -> str:
    """Write a count or an average: whole numbers as such, others with one digit."""
    if number is None:
        return UNKNOWN
    return f"{number:,.0f}" if number == int(number) or number >= 1000 else f"{number:,.1f}"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return UNKNOWN
    if seconds < 100:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def span(numbers: list[int]) -> str:
    """Write the least and the most."""
    low, high = min(numbers, default=0), max(numbers, default=0)
    return str(low) if low == high else f"{low}–{high}"


def listed(names: list[str], most: int = 6) -> str:
    if not names:
        return "none"
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
