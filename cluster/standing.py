"""Where a study stands, in numbers for people: what runs, what is held, and an honest guess of the time left."""

from __future__ import annotations

import time
from collections.abc import Sequence

from cluster.crew import Crew
from cluster.job import Tally
from cluster.scheduler import Queue, seconds_left
from cluster.track import Track
from mldevbench.records import Run


def bring_up_to_date(tally: Tally, crew: Crew, waiting: Queue[Track], working: Sequence[tuple[Run, float]]) -> None:
    """Fill a tally from what the driver holds; `working` has each run under way with its start."""
    now, expect = time.monotonic(), waiting.durations.expect
    tally.running = len(working)
    tally.nodes = len(crew.nodes)
    tally.gpus = sum(node.total.gpus for node in crew.nodes)
    tally.gpus_held = sum(one.shape.gpus for one in crew.members if one.node)
    tally.gpus_idle = sum(one.shape.gpus for one in crew.members if one.idle)
    ahead = [expect(run) - (now - started) for run, started in working]
    # What has run over its time will most likely not end at once.
    overdue = [left if left > 0 else 0.25 * (now - started) for left, (_, started) in zip(ahead, working, strict=True)]
    slots = max(len(working), min(waiting.slots, len(working) + len(waiting)))
    tally.seconds_left = seconds_left(waiting.seconds_ahead(), overdue, slots)
    tally.guessing = bool(len(waiting)) and not waiting.durations.seen
