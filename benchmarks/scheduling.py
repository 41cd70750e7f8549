"""How well the queue uses a cluster: its makespan against the bound, and what a decision costs in a large study.

Prints a table; nothing of it needs Ray or a quiet machine. `--ray` also plays one draw on real actors that sleep.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
import tracemalloc

from cluster.berth import Berth
from cluster.crew import Crew
from cluster.scheduler import Durations, Queue
from cluster.shape import Node, Shape
from cluster.simulator import Paper, first_come, play
from mldevbench.records import AgentSpec, Budget, Run

TASKS, SEEDS, SLOTS, DRAWS = 30, 7, 16, 20
REAL_SECONDS = 90.0
BETWEEN, WITHIN = 0.8, 0.3  # spread of the logarithm of durations, between tasks and within one
NODES = [Node(f"n{number}", Shape(4)) for number in range(SLOTS // 4)]


def main() -> None:
    found: dict[str, list[float]] = {"first come": [], "learned": [], "known": [], "learned, --order makespan": []}
    for draw in range(DRAWS):
        runs, took = study(draw, SEEDS)
        bound = max(sum(took.values()) / SLOTS, max(took.values()))
        found["first come"].append(bound / first_come(runs, lambda run, took=took: took[run.run_id], SLOTS))
        for name, order in (("learned", "seeds"), ("learned, --order makespan", "makespan")):
            found[name].append(bound / makespan(runs, took, Durations({}), order))
        found["known"].append(bound / makespan(runs, took, known(runs, took), "seeds"))
    print(f"{TASKS} tasks x {SEEDS} seeds on {SLOTS} slots, median of {DRAWS} draws: bound / makespan")
    targets = {"learned": " (target 0.95)", "known": " (target 0.98)"}
    for name, values in found.items():
        print(f"  {name + targets.get(name, ''):40} {statistics.median(values):.3f}   lowest {min(values):.3f}")
    grow()
    if "--ray" in sys.argv[1:]:
        runs, took = study(0, SEEDS)
        scale = REAL_SECONDS * SLOTS / sum(took.values())
        took = {name: seconds * scale for name, seconds in took.items()}
        real, paper = on_ray(runs, took), makespan(runs, took, known(runs, took), "seeds")
        print(f"one draw on Ray: {real:.1f} s, on paper {paper:.1f} s: {real / paper:.3f}x (target within 3 %)")


def study(draw: int, seeds: int) -> tuple[list[Run], dict[str, float]]:
    """Return the runs in the order of the plan, and how long each will take."""
    dice = random.Random(draw)
    typical = [dice.lognormvariate(5, BETWEEN) for _ in range(TASKS)]
    spec = AgentSpec("react", "react", "d", "openai/x")
    runs = [
        Run(spec, f"task{task}", "c", "d", "mini", 0, seed, Budget()) for seed in range(seeds) for task in range(TASKS)
    ]
    return runs, {run.run_id: typical[int(run.task[4:])] * dice.lognormvariate(0, WITHIN) for run in runs}


def known(runs: list[Run], took: dict[str, float]) -> Durations:
    """Return durations as if earlier studies had taught each task's own mean."""
    durations = Durations({})
    for run in runs:
        durations.learn(run.spec.label, run.task, took[run.run_id])
    return durations


def makespan(runs: list[Run], took: dict[str, float], durations: Durations, order: str) -> float:
    return play(runs, lambda run: took[run.run_id], NODES, durations, lambda run: Shape(), order).seconds


def grow() -> None:
    """Show that a decision costs the same in a study of 10,000 runs as in one of 1,000."""
    costs, memories = [], []
    for seeds in (34, 334):
        runs, took = study(0, seeds)
        tracemalloc.start()
        played = play(runs, lambda run, took=took: took[run.run_id], NODES, Durations({}), lambda run: Shape())
        memories.append(tracemalloc.get_traced_memory()[1] / len(runs))
        tracemalloc.stop()
        costs.append(statistics.median(played.decision_seconds) * 1e6)
        print(f"{len(runs)} runs: {costs[-1]:.0f} us for each decision, {memories[-1]:.0f} bytes for each run")
    print(
        f"10,000 against 1,000: time {costs[1] / costs[0]:.2f}x, memory for each run {memories[1] / memories[0]:.2f}x"
    )


class Sleeper:
    """Stands for a run actor."""

    def ready(self) -> Berth:
        return Berth("n", "here")

    def work(self, seconds: float) -> None:
        time.sleep(seconds)


def on_ray(runs: list[Run], took: dict[str, float]) -> float:
    """Return when the last of these runs ends on real actors, with our own queue and crew; actors are warm before."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray

    ray.init(address="local", num_cpus=SLOTS, include_dashboard=False, log_to_driver=False)
    worker = ray.remote(num_cpus=1)(Sleeper)
    crew = Crew(lambda kind, shape, closed: worker.remote(), [Node("n", Shape(SLOTS))])
    queue: Queue[Paper] = Queue(known(runs, took), lambda run: Shape())
    queue.slots = SLOTS
    for run in runs:
        queue.add(Paper(run))
    crew.begin_round()
    for _ in range(SLOTS):
        crew.request("run", Shape())
    for reference in crew.coming():
        crew.arrived(reference, ray.get(reference))
    working, began = {}, time.monotonic()
    while queue or working:
        crew.begin_round()
        while queue and not crew.blocked("run", Shape()) and (member := crew.request("run", Shape())):
            item = queue.pop()
            assert item is not None
            working[member.actor.work.remote(took[item.run.run_id])] = member
        (first,), _ = ray.wait([*working, *crew.coming()], num_returns=1)
        if first in working:
            crew.release(working.pop(first))
        else:
            crew.arrived(first, ray.get(first))
    ended = time.monotonic() - began
    ray.shutdown()
    return ended


if __name__ == "__main__":
    main()
