"""Whether and when an attempt that was lost is tried again; pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mldevbench.records import Cause


class Decision(StrEnum):
    AGAIN = "again"
    GIVE_UP = "give_up"


# A person stopped these; trying again at once would be against their word.
FINAL = {Cause.CANCELLED, Cause.MANUAL}
# Nothing of the run's own is at fault: these have an allowance of their own.
OUTSIDE = {Cause.DRIVER_LOST, Cause.PREEMPTED}
ALLOWANCE = 20
LONGEST_WAIT = 120.0


@dataclass(frozen=True)
class Losses:
    """What one call of the driver has seen happen to a run."""

    causes: tuple[Cause, ...] = ()
    vanished: int = 0  # how many of those came with the end of a whole node

    def and_(self, cause: Cause, vanished: bool = False) -> Losses:
        counted = vanished and cause not in OUTSIDE
        return Losses((*self.causes, cause), self.vanished + counted)

    @property
    def outside(self) -> int:
        return sum(cause in OUTSIDE for cause in self.causes) + self.vanished


def decide(losses: Losses, void_retries: int) -> Decision:
    """Say what follows from a run's losses, the last one included."""
    if losses.causes[-1] in FINAL:
        return Decision.GIVE_UP
    counted = len(losses.causes) - losses.outside
    return Decision.AGAIN if counted <= void_retries and losses.outside <= ALLOWANCE else Decision.GIVE_UP


def wait_seconds(losses: Losses) -> float:
    """Return how long to wait before the next attempt: a lost node is no reason to, the rest may pass."""
    counted = len(losses.causes) - losses.outside
    return min(2.0 ** (counted - 1), LONGEST_WAIT) if counted > 0 else 0.0
