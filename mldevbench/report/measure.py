"""What a run used, as tables average it; what nobody measured is unknown, never 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from mldevbench.records import Outcome, RunRow
from mldevbench.reference import PAPER
from mldevbench.report.wording import UNKNOWN, dollars, duration, short, whole


class Measure(StrEnum):
    USD = "usd"
    TOKENS = "tokens"
    STEPS = "steps"
    WORKING = "working_seconds"
    GPU = "gpu_seconds"

    def of(self, row: RunRow) -> float | None:
        return READ[self](row)

    def text(self, value: float | None) -> str:
        return WRITE[self](value)


def _published(row: RunRow) -> bool:
    return row.salt_digest == PAPER


def _tokens(row: RunRow) -> float | None:
    return None if _published(row) and not row.total_tokens else row.total_tokens


READ: dict[Measure, Callable[[RunRow], float | None]] = {
    Measure.USD: lambda row: row.cost_usd,
    Measure.TOKENS: _tokens,
    Measure.STEPS: lambda row: None if _published(row) else row.steps,
    Measure.WORKING: lambda row: None if _published(row) else row.working_seconds,
    Measure.GPU: lambda row: None if _published(row) else row.gpu_seconds,
}
WRITE: dict[Measure, Callable[[float | None], str]] = {
    Measure.USD: dollars,
    Measure.TOKENS: whole,
    Measure.STEPS: short,
    Measure.WORKING: duration,
    Measure.GPU: short,
}


@dataclass(frozen=True)
class Mean:
    """The mean of what is known of some runs."""

    value: float | None
    known: int
    total: int

    def text(self, measure: Measure) -> str:
        said = measure.text(self.value)
        return said if self.known in (0, self.total) else f"{said} ({self.known}/{self.total} known)"


def mean_of(rows: Sequence[RunRow], measure: Measure) -> Mean:
    values = [value for row in rows if (value := measure.of(row)) is not None]
    return Mean(sum(values) / len(values) if values else None, len(values), len(rows))


def per_success(rows: Sequence[RunRow]) -> str:
    """Write dollars per success; without a success what was spent is the least that one costs."""
    costs = [row.cost_usd for row in rows]
    if not costs or any(cost is None for cost in costs):
        return UNKNOWN
    spent = sum(cost for cost in costs if cost is not None)
    passed = sum(row.outcome is Outcome.PASSED for row in rows)
    return dollars(spent / passed) if passed else f">{dollars(spent)}"
