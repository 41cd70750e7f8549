"""What a study has spent against its limits; each start reserves its worst case; pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from mldevbench.records import AttemptRow, Cause, Run

# What ends an attempt from outside gives it no time to say all that it cost.
CUT_OFF = {Cause.NODE_LOST, Cause.PREEMPTED, Cause.DRIVER_LOST, Cause.CANCELLED}


@dataclass
class Ledger:
    """Dollars and GPU-hours, settled and reserved."""

    usd_limit: float | None = None
    gpu_hours_limit: float | None = None
    usd: float = 0.0
    gpu_seconds: float = 0.0
    dearest_usd: float = 0.0
    _reserved: dict[str, tuple[float, float]] = field(default_factory=dict)

    def charge(self, run: Run, row: AttemptRow) -> None:
        """Settle one attempt; one that ended before it could say what it cost is charged its reservation."""
        usd, gpu_seconds = self._reserved.pop(run.run_id, self._worst(run))
        if row.archive is None and (row.finished_at is None or row.cause in CUT_OFF):
            self.usd += max(usd, row.cost_usd or 0.0)
            self.gpu_seconds += max(row.gpu_seconds, min(gpu_seconds, _elapsed(row) * run.gpus))
            return
        cost = row.cost_usd if row.cost_usd is not None else (0.0 if run.spec.model is None else usd)
        self.usd += cost
        self.dearest_usd = max(self.dearest_usd, cost)
        self.gpu_seconds += row.gpu_seconds

    def reserve(self, run: Run) -> bool:
        """Set a run's worst case aside; False once the limit doesn't hold it."""
        usd, gpu_seconds = self._worst(run)
        held_usd = self.usd + sum(one for one, _ in self._reserved.values())
        held_gpu = self.gpu_seconds + sum(one for _, one in self._reserved.values())
        if self.usd_limit is not None and run.spec.model and held_usd + usd > self.usd_limit + 1e-9:
            return False
        if (
            self.gpu_hours_limit is not None
            and run.gpus
            and held_gpu + gpu_seconds > self.gpu_hours_limit * 3600 + 1e-9
        ):
            return False
        self._reserved[run.run_id] = (usd, gpu_seconds)
        return True

    def _worst(self, run: Run) -> tuple[float, float]:
        """Each sample's budget in dollars, else the dearest run so far; every GPU until the hard stop."""
        budget = None if run.budget.usd is None else run.budget.usd * run.samples
        usd = 0.0 if run.spec.model is None else (budget or self.dearest_usd)
        return usd, run.gpus * run.budget.wall_seconds * run.samples


def _elapsed(row: AttemptRow) -> float:
    """Return the seconds that an attempt can have taken at most, as far as anybody knows."""
    return math.inf if row.finished_at is None else (row.finished_at - row.started_at).total_seconds()
