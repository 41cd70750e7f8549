"""How well the queue uses a cluster: its makespan against the bound, and what a decision costs in a large study.

Prints a table; nothing of it needs Ray or a quiet machine but the last lines. `--ray` plays one draw on real actors.
"""

from __future__ import annotations

import random
import statistics
import tracemalloc

from cluster.scheduler import Durations
from cluster.shape import Node, Shape
from cluster.simulator import first_come, play
from mldevbench.records import AgentSpec, Budget, Run

TASKS, SEEDS, SLOTS, DRAWS = 30, 7, 16, 20
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


if __name__ == "__main__":
    main()
