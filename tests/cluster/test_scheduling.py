"""The order of a study: tables of what comes next, and whole studies on paper."""

from __future__ import annotations

import dataclasses
import random
import statistics

import pytest

from cluster.scheduler import Durations, Queue
from cluster.shape import Node, Shape
from cluster.simulator import Paper, first_come, play, slots_of
from mldevbench.records import AgentSpec, Budget, Run

SPEC = AgentSpec("react", "react", "d", "openai/x")
OTHER = dataclasses.replace(SPEC, label="other", model="openai/y")


def run(task: str, seed: int = 0, spec: AgentSpec = SPEC, gpus: float = 0.0) -> Run:
    return Run(spec, task, "c", "d", "mini", 0, seed, Budget(), gpus)


def queue_of(runs: list[Run], durations: Durations, order: str = "seeds", slots: int = 0) -> Queue[Paper]:
    queue: Queue[Paper] = Queue(durations, lambda one: Shape(1, one.gpus), order)
    queue.slots = slots
    for one in runs:
        queue.add(Paper(one))
    return queue


def given_out(queue: Queue[Paper]) -> list[tuple[str, int]]:
    return [(item.run.task, item.run.seed) for item in iter(queue.pop, None) if item]


MIXED = [run("short", 0), run("long", 1), run("long", 0), run("short", 1)]


@pytest.mark.parametrize(
    ("order", "slots", "expected"),
    [
        ("seeds", 0, [("long", 0), ("short", 0), ("long", 1), ("short", 1)]),
        ("makespan", 0, [("long", 0), ("short", 0), ("long", 1), ("short", 1)]),
        # On many slots what is long would end last, so it doesn't wait for its seed.
        ("seeds", 4, [("long", 0), ("long", 1), ("short", 0), ("short", 1)]),
    ],
)
def test_what_comes_next(order: str, slots: int, expected: list[tuple[str, int]]) -> None:
    assert given_out(queue_of(MIXED, Durations({"long": 90.0, "short": 10.0}), order, slots)) == expected


def test_what_was_tried_comes_after_what_was_not_but_before_the_next_seed() -> None:
    queue = queue_of([run("a", 0), run("a", 1)], Durations({}))
    queue.add(Paper(run("b", 0)), tried=2)
    assert given_out(queue) == [("a", 0), ("b", 0), ("a", 1)]


def test_a_shape_that_finds_no_room_blocks_no_other() -> None:
    queue = queue_of([run("big", 0, gpus=4.0), run("small", 0)], Durations({"big": 99.0, "small": 1.0}))
    first = queue.pop({Shape(1, 4.0)})
    assert first and first.run.task == "small" and queue.pop({Shape(1, 4.0)}) is None and len(queue) == 1


def test_agents_are_mixed_even_if_one_is_slower() -> None:
    durations = Durations({})
    for task in ("a", "b", "c", "d"):
        durations.learn("react", task, 100.0)
        durations.learn("other", task, 90.0)
    queue = queue_of([run(task, 0, spec) for task in "abcd" for spec in (SPEC, OTHER)], durations)
    labels = []
    for _ in range(4):
        item = queue.pop()
        assert item
        queue.working[item.run.spec.label] += 1
        labels.append(item.run.spec.label)
    assert labels.count("react") == 2, labels


def drawn(draw: int, seeds: int = 7, tasks: int = 30) -> tuple[list[Run], dict[str, float]]:
    dice = random.Random(draw)
    typical = [dice.lognormvariate(5, 0.8) for _ in range(tasks)]
    runs = [run(f"t{number}", seed) for seed in range(seeds) for number in range(tasks)]
    return runs, {one.run_id: typical[int(one.task[1:])] * dice.lognormvariate(0, 0.3) for one in runs}


SLOTS = [Node(f"n{number}", Shape(4)) for number in range(4)]


def test_on_paper_learnt_durations_come_near_the_bound_and_first_come_does_not() -> None:
    ours, theirs = [], []
    for draw in range(8):
        runs, took = drawn(draw)
        bound = max(sum(took.values()) / 16, max(took.values()))
        played = play(runs, lambda one, took=took: took[one.run_id], SLOTS, Durations({}), lambda one: Shape())
        assert len({one.run_id for _, one in played.started}) == len(runs)
        assert played.busy_seconds == pytest.approx(sum(took.values()))
        ours.append(bound / played.seconds)
        theirs.append(bound / first_come(runs, lambda one, took=took: took[one.run_id], 16))
    assert statistics.median(ours) >= 0.95 > statistics.median(theirs)


def test_a_study_that_is_stopped_early_has_whole_seeds() -> None:
    runs, took = drawn(1, seeds=20)
    played = play(runs, lambda one: took[one.run_id], SLOTS, Durations({}), lambda one: Shape())
    half = [one.seed for when, one in played.started if when < played.seconds / 2]
    assert {seed for seed in range(8) if half.count(seed) == 30} == set(range(8))


def test_large_and_small_needs_share_the_nodes_and_none_waits_for_ever() -> None:
    nodes = [Node(f"n{number}", Shape(4, 4)) for number in range(4)]
    runs = [run(f"t{gpus}", seed, gpus=float(gpus)) for seed in range(16) for gpus in (0, 1, 2, 4)]
    played = play(runs, lambda one: 10.0, nodes, Durations({}), lambda one: Shape(1, one.gpus))
    assert len(played.started) == 64
    held = sum(one.gpus for one in runs) * 10.0
    assert played.seconds <= 2 * held / 16, "the GPUs stood idle"


@pytest.mark.slow
def test_a_decision_costs_the_same_in_a_large_study() -> None:
    costs = []
    for seeds in (34, 334):
        runs, took = drawn(0, seeds)
        played = play(runs, lambda one, took=took: took[one.run_id], SLOTS, Durations({}), lambda one: Shape())
        assert len(played.started) == len(runs)
        costs.append(statistics.median(played.decision_seconds))
    assert costs[1] <= 3 * costs[0], "time for each run grows with the study"


def test_slots_are_what_fits() -> None:
    assert slots_of(SLOTS, [Shape(1)]) == 16
    assert slots_of(SLOTS, [Shape(3)]) == 4
    assert slots_of(SLOTS, []) == 1
