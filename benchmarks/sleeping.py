"""A study on real Ray actors that only sleep, with the driver's own queue and crew.

Run as a script with two files, what is asked and what came of it: that is how `on_ray` starts it in a network of its
own, since the nodes of a simulated cluster listen on every interface that they find.
"""

from __future__ import annotations

import logging
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from cluster.berth import Berth
from cluster.crew import Crew
from cluster.scheduler import Durations, Queue
from cluster.session import live_nodes
from cluster.shape import Shape
from cluster.simulator import Paper
from mldevbench.records import Run

Span = tuple[float, float]  # begin and end by the machine's own clock, which all its processes share


@dataclass(frozen=True)
class Slept:
    """What came of it."""

    seconds: float  # from the first decision to the end of the last run
    handovers: tuple[float, ...]  # seconds for which an actor had nothing to do between two runs


class Sleeper:
    """Stands for a run actor."""

    def ready(self) -> Berth:
        import ray

        return Berth(ray.get_runtime_context().get_node_id(), "here")

    def work(self, seconds: float) -> Span:
        began = time.monotonic()
        time.sleep(seconds)
        return began, time.monotonic()


def on_ray(runs: list[Run], took: dict[str, float], durations: Durations, nodes: Sequence[Shape], each: Shape) -> Slept:
    """Let these runs sleep on as many simulated nodes, `each` reserved for one; actors are warm before the first."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        asked, answer = Path(folder) / "asked", Path(folder) / "answer"
        asked.write_bytes(pickle.dumps((runs, took, durations, nodes, each)))
        alone = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"]
        subprocess.run(
            [*alone, sys.executable, __file__, str(asked), str(answer)], stderr=subprocess.DEVNULL, check=True
        )
        return Slept(*pickle.loads(answer.read_bytes()))


def sleep_through(
    runs: list[Run], took: dict[str, float], durations: Durations, nodes: Sequence[Shape], each: Shape
) -> Slept:
    import ray

    with simulated(nodes):
        worker = ray.remote(num_cpus=each.cpus, num_gpus=each.gpus)(Sleeper)
        crew = Crew(lambda kind, shape, closed: worker.remote(), live_nodes())
        queue: Queue[Paper] = Queue(durations, lambda run: each)
        queue.slots = int(sum(node.cpus for node in nodes) / each.cpus)
        for run in runs:
            queue.add(Paper(run))
        warm(crew, queue.slots, each)
        return drive(crew, queue, took, each)


@contextmanager
def simulated(nodes: Sequence[Shape]) -> Iterator[None]:
    """A cluster of these nodes on this machine."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        for node in nodes:
            cluster.add_node(num_cpus=int(node.cpus), num_gpus=int(node.gpus), include_dashboard=False)
        ray.init(address=cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


def warm(crew: Crew, slots: int, each: Shape) -> None:
    import ray

    crew.begin_round()
    for _ in range(slots):
        crew.request("run", each)
    for reference in crew.coming():
        crew.arrived(reference, ray.get(reference))


def drive(crew: Crew, queue: Queue[Paper], took: dict[str, float], each: Shape) -> Slept:
    """Decide as the simulator does, on what it knows at that moment, but let Ray's clock go."""
    import ray

    spans: defaultdict[int, list[Span]] = defaultdict(list)
    working, began = {}, time.monotonic()
    while queue or working:
        crew.begin_round()
        while queue and not crew.blocked("run", each) and (member := crew.request("run", each)):
            item = queue.pop()
            assert item is not None
            queue.working[item.run.spec.label] += 1
            working[member.actor.work.remote(took[item.run.run_id])] = (member, item.run)
        (first,), _ = ray.wait([*working, *crew.coming()], num_returns=1)
        if first not in working:
            crew.arrived(first, ray.get(first))
            continue
        member, run = working.pop(first)
        spans[member.number].append(ray.get(first))
        crew.release(member)
        queue.working[run.spec.label] -= 1
        queue.durations.learn(run.spec.label, run.task, took[run.run_id])
    last = max(end for found in spans.values() for _, end in found)
    gaps = [after - end for found in spans.values() for (_, end), (after, _) in pairwise(found)]
    return Slept(last - began, tuple(gaps))


if __name__ == "__main__":
    slept = sleep_through(*pickle.loads(Path(sys.argv[1]).read_bytes()))
    Path(sys.argv[2]).write_bytes(pickle.dumps((slept.seconds, slept.handovers)))  # this module has another name there
