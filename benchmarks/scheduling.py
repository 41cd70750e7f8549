"""How well the queue uses a cluster: its makespan against the bound, on paper and on real actors, and what it costs."""

from __future__ import annotations

import gc
import random
import statistics
import tracemalloc
from collections.abc import Callable, Iterator

from driver import driver_memory
from figure import Figure
from sleeping import on_ray

from cluster.scheduler import Durations
from cluster.shape import Node, Shape
from cluster.simulator import first_come, play
from mldevbench.records import AgentSpec, Budget, Run

TASKS, SEEDS, SLOTS = 30, 7, 16
AGENTS, FORECAST_SEEDS, TYPICAL_MINUTES = 4, 5, 20
GROUP = f"Scheduling, {TASKS} tasks × {SEEDS} seeds on {SLOTS} slots"
FORECAST = f"Forecast, {TASKS} tasks × {FORECAST_SEEDS} seeds × {AGENTS} agents, typically {TYPICAL_MINUTES} minutes"
DRAWS = range(1000, 1040)  # the scheduler's margin was chosen on draws 0 to 19
BETWEEN, WITHIN = 0.8, 0.3  # spread of the logarithm of durations, between tasks and within one
NODES = [Node(f"n{number}", Shape(4)) for number in range(SLOTS // 4)]
REAL_SECONDS, TRIES = 60.0, 3
CHECKED = {4: 120.0, 16: 60.0}  # seconds that the forecast for so many GPUs is scaled down to, to be checked
DRIVER, LOOKS = "Driver, on embedded Ray", (50, 300)


def measure() -> Iterator[Figure]:
    yield from bounds()
    yield from flatness()
    yield from forecast()
    yield from reality()
    yield from memory()


def bounds() -> Iterator[Figure]:
    """Yield how near each order comes to the bound that none can beat: all the work spread evenly, or the longest."""
    studies = [study(draw, SEEDS) for draw in DRAWS]
    for name, target, makespan in (
        ("first come", None, lambda runs, took: first_come(runs, lambda run: took[run.run_id], SLOTS)),
        ("durations learned", 0.95, lambda runs, took: on_paper(runs, took, Durations({}))),
        ("durations known", 0.98, lambda runs, took: on_paper(runs, took, known(runs, took))),
        ("learned, --order makespan", None, lambda runs, took: on_paper(runs, took, Durations({}), "makespan")),
    ):
        median, lowest = shares(studies, makespan)
        met = None if target is None else median >= target
        what = f"{name}: bound / makespan"
        yield Figure(GROUP, f"{what}, median of {len(DRAWS)} draws", median, "", f"≥ {target}" if target else "", met)
        yield Figure(GROUP, f"{what}, lowest", lowest, "")


def shares(studies: list[Study], makespan: Callable[[list[Run], dict[str, float]], float]) -> tuple[float, float]:
    found = []
    for runs, took in studies:
        bound = max(sum(took.values()) / SLOTS, max(took.values()))
        found.append(bound / makespan(runs, took))
    return statistics.median(found), min(found)


def flatness() -> Iterator[Figure]:
    """Yield what a decision costs in a study of 10,000 runs against one of 1,000."""
    (small, small_memory), (large, large_memory) = cost(34), cost(334)
    time, memory = large / small, large_memory / small_memory
    yield Figure(GROUP, "time of a decision, 10,000 runs against 1,000", time, "×", "≤ 1.2", time <= 1.2)
    yield Figure(GROUP, "memory for each run, 10,000 runs against 1,000", memory, "×", "≤ 1.2", memory <= 1.2)


def cost(seeds: int) -> tuple[float, float]:
    """Return the seconds of a decision and the bytes for each run; apart, since counting bytes takes time."""
    runs, took = study(DRAWS[0], seeds)

    def played() -> float:
        done = play(runs, lambda run: took[run.run_id], NODES, Durations({}), lambda run: Shape())
        return statistics.median(done.decision_seconds)

    seconds = min(played() for _ in range(3))
    gc.collect()  # also empties the interpreter's own stock of tuples, which would serve a small study for nothing
    tracemalloc.start()
    played()
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, memory / len(runs)


def forecast() -> Iterator[Figure]:
    """Yield how long the whole benchmark would take on a few sizes of cluster, a GPU for each run."""
    runs, took = study(DRAWS[0], FORECAST_SEEDS, AGENTS, TYPICAL_MINUTES * 60)
    for gpus in (1, 4, 16):
        shapes = [Shape(4, 4)] * (gpus // 4) or [Shape(1, 1)]
        nodes = [Node(f"n{number}", shape) for number, shape in enumerate(shapes)]
        played = play(runs, lambda run: took[run.run_id], nodes, Durations({}), lambda run: Shape(1, 1))
        used = 100 * played.busy_seconds / (gpus * played.seconds)
        yield Figure(FORECAST, f"GPUs: {gpus}, time", played.seconds / 3600, "h")
        yield Figure(FORECAST, f"GPUs: {gpus}, in use", used, "%")
        if gpus in CHECKED:
            scale = CHECKED[gpus] / played.seconds
            slept = on_ray(runs, {name: scale * took[name] for name in took}, Durations({}), shapes, Shape(1, 1))
            ratio = slept.seconds / CHECKED[gpus]
            what = f"GPUs: {gpus}, the {len(runs)} runs on {len(shapes)} simulated nodes in {CHECKED[gpus]:.0f} s, took"
            yield Figure(FORECAST, what, ratio, "×", "within 5 %", abs(ratio - 1) <= 0.05)


def reality() -> Iterator[Figure]:
    """Yield how far one draw, scaled down in time, takes longer on real actors than on paper.

    A run here is some thirty times shorter than in life, so what lies between two runs weighs thirty times as much.
    Busy neighbours only ever add to it: of several tries the shortest tells most of us and least of them.
    """
    runs, took = study(DRAWS[0], SEEDS)
    scale = REAL_SECONDS * SLOTS / sum(took.values())
    took = {name: seconds * scale for name, seconds in took.items()}
    best = min(
        (on_ray(runs, took, known(runs, took), [Shape(SLOTS)], Shape()) for _ in range(TRIES)),
        key=lambda one: one.seconds,
    )
    ratio = best.seconds / on_paper(runs, took, known(runs, took))
    met = abs(ratio - 1) <= 0.03
    sleep = f"{statistics.mean(took.values()):.1f} s a run"
    what = f"one draw on Ray actors that sleep {sleep}, against the same on paper, least of {TRIES}"
    yield Figure(GROUP, what, ratio, "×", "within 3 %", met)
    idle = [1e3 * seconds for seconds in best.handovers]
    yield Figure(GROUP, "an actor's idle time between two of these runs, median", statistics.median(idle), "ms")
    yield Figure(GROUP, "an actor's idle time between two of these runs, mean", statistics.mean(idle), "ms")


def memory() -> Iterator[Figure]:
    """Yield what a real driver holds, and how little of that is owed to the runs that it has finished."""
    early, late = driver_memory(LOOKS)
    ratio = late / early
    yield Figure(DRIVER, f"peak memory after {LOOKS[0]} runs", early, "MB")
    what = f"peak memory after {LOOKS[1]} runs against {LOOKS[0]}"
    yield Figure(DRIVER, what, ratio, "×", "≤ 1.2", ratio <= 1.2)


Study = tuple[list[Run], dict[str, float]]


def study(draw: int, seeds: int, agents: int = 1, typical_seconds: float = 150.0) -> Study:
    """Return the runs in the order of the plan, and how long each will take."""
    dice = random.Random(draw)
    typical = {f"task{task}": typical_seconds * dice.lognormvariate(0, BETWEEN) for task in range(TASKS)}
    specs = [AgentSpec(f"react{number}", "react", "d", "openai/x") for number in range(agents)]
    runs = [
        Run(spec, task, "c", "d", "mini", 0, seed, Budget())
        for seed in range(seeds)
        for task in typical
        for spec in specs
    ]
    return runs, {run.run_id: typical[run.task] * dice.lognormvariate(0, WITHIN) for run in runs}


def known(runs: list[Run], took: dict[str, float]) -> Durations:
    """Return durations as if earlier studies had taught each task's own mean."""
    durations = Durations({})
    for run in runs:
        durations.learn(run.spec.label, run.task, took[run.run_id])
    return durations


def on_paper(runs: list[Run], took: dict[str, float], durations: Durations, order: str = "seeds") -> float:
    return play(runs, lambda run: took[run.run_id], NODES, durations, lambda run: Shape(), order).seconds
