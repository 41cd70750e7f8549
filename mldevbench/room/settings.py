"""What a room is made of on this node; set around a validation, so that validators need not name it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from mldevbench.sandbox.protocol import Limits
from mldevbench.unmet import Unmet


@dataclass(frozen=True)
class RoomSettings:
    isolation: str
    venv: Path  # the task venv
    scratch: Path  # where rooms and unpacked submissions live for a while
    limits: Limits = field(default_factory=Limits)
    gpus: tuple[int, ...] = ()
    warm: bool = True  # serve calls from a process that has torch imported, where the isolation allows it
    deadline: float | None = None  # on the monotonic clock: when the whole validation must be over

    def seconds_left(self, wanted: float) -> float:
        """Return how long a command may take; a validation that is out of time ends here."""
        if self.deadline is None:
            return wanted
        left = self.deadline - monotonic()
        if left <= 0:
            raise Unmet("time", "a submission that can be validated in the task's time", "it takes longer")
        return min(wanted, left)


room_settings: ContextVar[RoomSettings] = ContextVar("room_settings")


@contextmanager
def rooms(settings: RoomSettings) -> Iterator[RoomSettings]:
    """Make these settings the ones that every Room below uses."""
    token = room_settings.set(settings)
    try:
        yield settings
    finally:
        room_settings.reset(token)
