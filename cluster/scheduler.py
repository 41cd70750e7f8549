"""Which run is next: longest first, by durations that finished runs teach; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mldevbench.records import Run


@dataclass
class Durations:
    """What is known of how long runs take, in seconds."""

    prior: dict[str, float]  # task -> what its author expects
    seen: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)

    def learn(self, label: str, task: str, seconds: float) -> None:
        for key in ((label, task), ("", task)):
            total, count = self.seen.get(key, (0.0, 0))
            self.seen[key] = (total + seconds, count + 1)

    def expect(self, run: Run) -> float:
        """Return the mean of this agent's runs of the task, else of anybody's, else what the author says."""
        for key in ((run.spec.label, run.task), ("", run.task)):
            if key in self.seen:
                total, count = self.seen[key]
                return total / count
        return self.prior.get(run.task, 60.0)


ORDERS = ("seeds", "makespan")


def in_order(runs: Iterable[Run], durations: Durations, order: str = "seeds") -> list[Run]:
    """Sort what is owed: `seeds` ends whole seeds first, `makespan` only minds the last finish."""

    def key(run: Run) -> tuple[float, float]:
        seed = run.seed if order == "seeds" else 0
        return (seed, -durations.expect(run))

    return sorted(runs, key=key)


def seconds_left(waiting: Sequence[Run], running: Sequence[float], slots: int, durations: Durations) -> float:
    """Estimate when the last run ends: the work that is left over the slots, but at least the longest."""
    ahead = [durations.expect(run) for run in waiting] + [max(left, 0.0) for left in running]
    return max(sum(ahead) / max(slots, 1), max(ahead, default=0.0))
