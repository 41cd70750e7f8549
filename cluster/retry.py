"""Whether an attempt that was lost is tried again; pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from mldevbench.records import Cause


class Decision(StrEnum):
    AGAIN = "again"
    GIVE_UP = "give_up"


# A person stopped these; trying again at once would be against their word.
FINAL = {Cause.CANCELLED, Cause.MANUAL}
# Nothing of the run's own is at fault and nothing was spent on it: these don't use up its retries.
FREE = {Cause.DRIVER_LOST, Cause.PREEMPTED}


@dataclass(frozen=True)
class Losses:
    """What one call of the driver has seen happen to a run."""

    causes: tuple[Cause, ...] = ()

    def and_(self, cause: Cause) -> Losses:
        return Losses((*self.causes, cause))


def decide(losses: Losses, void_retries: int) -> Decision:
    """Say what follows from a run's losses, the last one included."""
    if losses.causes[-1] in FINAL:
        return Decision.GIVE_UP
    counted = sum(cause not in FREE for cause in losses.causes)
    return Decision.AGAIN if counted <= void_retries else Decision.GIVE_UP
