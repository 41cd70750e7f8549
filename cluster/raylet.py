"""Ends an actor's process with its node: Ray takes a raylet for alive that is dead and that nobody has buried yet."""

from __future__ import annotations

import os
import threading
import time

from cluster.berth import ABSENT, state_of

LOOK_SECONDS = 1.0


def end_with_raylet() -> None:
    """Watch from now on; call it as an actor starts."""
    raylet = int(os.environ.get("RAY_RAYLET_PID", 0))
    if raylet and state_of(raylet).letter:  # from a container of the actor's own it can't be seen
        threading.Thread(target=_watch, args=(raylet,), name="raylet", daemon=True).start()


def _watch(raylet: int) -> None:
    while state_of(raylet).letter not in ABSENT:
        time.sleep(LOOK_SECONDS)
    os._exit(1)
