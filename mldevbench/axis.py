"""The axes of a scaling study: what may be spent, by budget and in fact."""

from __future__ import annotations

from enum import StrEnum

from mldevbench.records import RunRow


class Axis(StrEnum):
    STEPS = "steps"
    TOKENS = "tokens"
    USD = "usd"
    MINUTES = "minutes"
    GPUS = "gpus"
    SAMPLES = "samples"

    @property
    def replayable(self) -> bool:
        """Whether a long run shows what a smaller budget would have given."""
        return self not in (Axis.GPUS, Axis.SAMPLES)

    def allowed(self, row: RunRow) -> float | None:
        """Return what the run was allowed; None is no bound."""
        values = {
            Axis.STEPS: row.budget_steps, Axis.TOKENS: row.budget_tokens, Axis.USD: row.budget_usd,
            Axis.MINUTES: row.budget_minutes, Axis.GPUS: row.gpus, Axis.SAMPLES: row.samples,
        }  # fmt: skip
        value = values[self]
        return None if value is None else float(value)

    def spent(self, row: RunRow) -> float | None:
        """Return what the run spent; None is unknown."""
        values = {
            Axis.STEPS: row.steps, Axis.TOKENS: row.total_tokens, Axis.USD: row.cost_usd,
            Axis.MINUTES: row.working_seconds / 60, Axis.GPUS: row.gpus, Axis.SAMPLES: row.samples,
        }  # fmt: skip
        value = values[self]
        return None if value is None else float(value)
