"""A study on paper: the driver's own queue and floor with a clock that jumps, for thousands of runs without Ray."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cluster.floor import free_on, room_for
from cluster.scheduler import Durations, Queue
from cluster.shape import Node, Shape
from mldevbench.records import Run

Took = Callable[[Run], float]


@dataclass(frozen=True)
class Paper:
    """A run on paper."""

    run: Run


@dataclass
class Played:
    """What came of it."""

    seconds: float = 0.0  # when the last run ended
    started: list[tuple[float, Run]] = field(default_factory=list)
    busy_seconds: float = 0.0
    decision_seconds: list[float] = field(default_factory=list)  # processor time that each decision cost


def play(
    runs: Sequence[Run], took: Took, nodes: Sequence[Node], durations: Durations, shape_of: Callable[[Run], Shape],
    order: str = "seeds",
) -> Played:  # fmt: skip
    """Run a plan: whenever something ends, start all that fits, as the driver would."""
    queue: Queue[Paper] = Queue(durations, shape_of, order)
    for run in runs:
        queue.add(Paper(run))
    queue.slots = slots_of(nodes, [shape_of(run) for run in runs[:1]])
    played, ends, free, now = Played(), [], free_on(nodes, []), 0.0
    while queue or ends:
        blocked: set[Shape] = set()
        while len(blocked) < len(queue.shapes()):
            began = time.thread_time()
            item = queue.pop(blocked)
            if item is None:
                break
            shape = shape_of(item.run)
            node = room_for(shape, nodes, free)
            if node is None:
                queue.add(item)
                blocked.add(shape)
                continue
            played.decision_seconds.append(time.thread_time() - began)
            free[node] -= shape
            seconds = took(item.run)
            queue.working[item.run.spec.label] += 1
            heapq.heappush(ends, (now + seconds, len(played.started), node, shape, item.run, seconds))
            played.started.append((now, item.run))
        if not ends:
            raise ValueError("a run fits no node")
        now, _, node, shape, run, seconds = heapq.heappop(ends)
        free[node] += shape
        played.busy_seconds += seconds
        queue.working[run.spec.label] -= 1
        durations.learn(run.spec.label, run.task, seconds)
    played.seconds = now
    return played


def first_come(runs: Sequence[Run], took: Took, slots: int) -> float:
    """Return when the last run ends if they are started in the order of the plan."""
    free_at = [0.0] * slots
    for run in runs:
        heapq.heapreplace(free_at, free_at[0] + took(run))
    return max(free_at)


def slots_of(nodes: Sequence[Node], shapes: Sequence[Shape]) -> int:
    """Return how many of the first shape fit at once."""
    if not shapes:
        return 1
    free, seats = free_on(nodes, []), 0
    while node := room_for(shapes[0], nodes, free):
        free[node] -= shapes[0]
        seats += 1
        if seats >= 100_000:
            break
    return max(seats, 1)
