"""Words to a running driver, left in its study's folder: they reach it from anywhere."""

from __future__ import annotations

from enum import StrEnum

from mldevbench.store.place import Place

FILE = "control/stop"


class Stop(StrEnum):
    CANCEL = "cancel"  # agents end now; their runs stay owed
    DRAIN = "drain"  # nothing new starts; what runs is finished and judged


def ask_to_stop(place: Place, how: Stop) -> None:
    place.write(FILE, how.value.encode())


def asked_to_stop(place: Place) -> Stop | None:
    return Stop(place.read(FILE).decode()) if place.has(FILE) else None


def clear(place: Place) -> None:
    """Forget what was said to an earlier driver."""
    place.remove(FILE)
