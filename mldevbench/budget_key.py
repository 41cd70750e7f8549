"""Budgets as people write them, to tell runs of different budgets apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mldevbench.records import RunRow


class BudgetKey(NamedTuple):
    steps: int | None
    minutes: float | None
    wall_minutes: float | None
    tokens: int | None
    usd: float | None

    def __str__(self) -> str:
        said = [f"{name}={value:g}" for name, value in self._asdict().items() if value is not None]
        return ",".join(said) or "no bound"

    def fits(self, wanted: Mapping[str, float]) -> bool:
        return all(getattr(self, name) == value for name, value in wanted.items())


def budget_of(row: RunRow) -> BudgetKey:
    return BudgetKey(row.budget_steps, row.budget_minutes, row.budget_wall_minutes, row.budget_tokens, row.budget_usd)
