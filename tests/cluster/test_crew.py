"""Who has a place on which node: reuse, giving way, patience, and nodes that are left out."""

from __future__ import annotations

import dataclasses

import pytest

from cluster.berth import Berth, Wear, worn
from cluster.crew import (
    AVOID_SECONDS,
    IDLE_SECONDS,
    LINGER_SECONDS,
    PASSES,
    PROMISE_SECONDS,
    STILLBORN,
    STRIKES,
    UNPLACED,
    Crew,
    Member,
)
from cluster.floor import Seat, free_on, giving_way, node_to_keep, room_for
from cluster.hiring import reservation
from cluster.shape import Node, Shape, clamped, demand_placeable
from mldevbench.errors import UserError

NODES = [Node("a", Shape(4, 2, 16), frozenset({"A100"})), Node("b", Shape(8, 0, 16), frozenset({"zone=x"}))]


class Actor:
    """Stands for an actor; what is asked of it is only named."""

    def __init__(self) -> None:
        self.ready = self

    def remote(self) -> object:
        return object()


class Stage:
    """A crew with a clock that a test moves, and a list of those that were ended."""

    def __init__(self, *nodes: Node, fresh: bool = False) -> None:
        self.now = 0.0
        self.ended: list[object] = []
        self.closed: list[frozenset[str]] = []
        self.crew = Crew(self.hire, list(nodes), fresh, lambda: self.now)
        self.crew._end = self.ended.append  # type: ignore[method-assign]

    def hire(self, kind: str, shape: Shape, closed: frozenset[str]) -> Actor:
        self.closed.append(closed)
        return Actor()

    def settle(self, node: str = "a", placed: bool = True) -> None:
        """Let everything that is on its way arrive; with `placed` false only what has a place already."""
        for reference in self.crew.coming():
            known = next(one.node for one in self.crew.members if one.coming is reference)
            if known or placed:
                self.crew.arrived(reference, Berth(known or node, "host"))

    def get(self, kind: str, shape: Shape, node: str = "a") -> Member:
        self.crew.begin_round()
        member = self.crew.request(kind, shape)
        if member is None:
            self.settle(node)
            self.crew.begin_round()
            member = self.crew.request(kind, shape)
        assert member is not None
        return member

    def refused(self, kind: str, shape: Shape) -> bool:
        self.crew.begin_round()
        assert self.crew.request(kind, shape) is None
        return self.crew.blocked(kind, shape)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (Shape(1, 0), "b"),  # no GPU is taken away by what needs none: less is left over there
        (Shape(1, 1), "a"),
        (Shape(1, 3), None),
        (Shape(5, 0), "b"),
        (Shape(1, 0, 17), None),
        (Shape(1, 1, 0, "A100"), "a"),
        (Shape(1, 0, 0, "zone=x"), "b"),
        (Shape(1, 1, 0, "H100"), None),
    ],
)
def test_a_shape_finds_the_node_with_the_least_left_over(shape: Shape, expected: str | None) -> None:
    assert room_for(shape, NODES, free_on(NODES, [])) == expected


def test_what_is_not_placed_yet_counts_and_a_dead_node_does_not() -> None:
    seats = [Seat(0, "run", Shape(4, 2), None), Seat(1, "run", Shape(8, 0), "gone")]
    free = free_on(NODES, seats)
    assert (free["a"].gpus, free["b"].cpus) == (0, 8)


def test_the_fewest_idle_actors_give_way_and_validation_first() -> None:
    seats = [Seat(0, "run", Shape(2, 1), "a", True), Seat(1, "validation", Shape(2, 1), "a", True)]
    assert giving_way(Shape(1, 1), NODES, seats) == [seats[1]]
    assert giving_way(Shape(4, 2), NODES, seats) == [seats[1], seats[0]]
    busy = [dataclasses.replace(seat, idle=False) for seat in seats]
    assert giving_way(Shape(1, 1), NODES, busy) is None


def test_the_node_that_lacks_least_is_kept_free() -> None:
    nodes = [Node("a", Shape(4, 4)), Node("b", Shape(4, 4))]
    seats = [Seat(0, "run", Shape(1, 1), "a"), Seat(1, "run", Shape(1, 1), "a"), Seat(2, "run", Shape(1, 1), "b")]
    assert node_to_keep(Shape(1, 4), nodes, seats) == "b"


def test_a_warm_actor_is_used_again_and_an_idle_one_gives_way() -> None:
    stage = Stage(Node("a", Shape(2, 0)))
    first, second = stage.get("run", Shape(1)), stage.get("run", Shape(1))
    assert stage.refused("run", Shape(1))
    stage.crew.release(first)
    stage.settle()
    assert stage.get("run", Shape(1)) is first
    stage.crew.release(first)
    stage.settle()
    judge = stage.get("validation", Shape(1))
    assert judge is not first and first.actor in stage.ended
    stage.crew.release(second, broken=True)
    assert second.actor in stage.ended and second not in stage.crew.members


@pytest.mark.parametrize(
    ("asked", "reused"),
    [(Shape(1, 0, 2), True), (Shape(1, 0, 4), True), (Shape(1, 0, 8), False), (Shape(2, 0, 2), False)],
)
def test_a_warm_actor_that_holds_more_memory_does_as_well(asked: Shape, reused: bool) -> None:
    stage = Stage(Node("a", Shape(4, 2, 16)))
    runner = stage.get("run", Shape(1, 0, 4))
    stage.crew.release(runner)
    stage.settle()
    assert (stage.get("run", asked) is runner) == reused
    assert not Shape(1, 1, 4).covers(Shape(1, 0, 4)) and not Shape(1, 1, 4, "A100").covers(Shape(1, 1, 4))


def test_of_two_warm_actors_the_smaller_is_taken() -> None:
    stage = Stage(Node("a", Shape(4, 0, 16)))
    large, small = stage.get("run", Shape(1, 0, 4)), stage.get("run", Shape(1, 0, 2))
    for one in (large, small):
        stage.crew.release(one)
    stage.settle()
    assert stage.get("run", Shape(1, 0, 1)) is small


def test_what_nobody_has_room_for_waits_in_rays_queue_but_only_a_little_of_it() -> None:
    stage = Stage(Node("a", Shape(1, 0)))
    stage.get("run", Shape(1))
    for _ in range(UNPLACED + 3):
        assert stage.refused("run", Shape(2))
    assert sum(one.node is None for one in stage.crew.members) == UNPLACED
    assert stage.refused("validation", Shape(1))
    waiting = [one.kind for one in stage.crew.members if one.node is None]
    assert waiting == ["validation"], "Ray could place a run before the validation that comes first"
    stage.crew.tidy(wanted=set())
    assert all(one.busy for one in stage.crew.members)


def test_what_waits_in_rays_queue_is_given_the_place_of_an_idle_actor() -> None:
    stage = Stage(Node("a", Shape(1, 0)))
    runner = stage.get("run", Shape(1))
    assert stage.refused("validation", Shape(1)) and stage.refused("validation", Shape(1))
    stage.crew.release(runner)
    stage.settle(placed=False)
    stage.crew.begin_round()
    assert stage.crew.request("validation", Shape(1)) is None
    assert stage.ended == [runner.actor], "the idle actor kept the place that validation waits for"
    assert stage.crew.request("run", Shape(1)) is None and stage.crew.blocked("run", Shape(1))
    assert stage.get("validation", Shape(1)).kind == "validation"


def test_a_promise_that_another_driver_broke_is_made_anew() -> None:
    stage = Stage(Node("a", Shape(2, 0)))
    runner = stage.get("run", Shape(1))
    stage.crew.begin_round()
    assert stage.crew.request("validation", Shape(1)) is None
    stage.crew.release(runner)
    stage.settle(placed=False)
    stage.now = PROMISE_SECONDS + 1
    stage.crew.begin_round()
    assert stage.crew.request("validation", Shape(1)) is None
    assert [one.promised for one in stage.crew.members if one.kind == "validation"] == [True]


def test_a_judge_is_given_the_room_that_is_made_for_it_and_not_a_run_that_queues() -> None:
    stage = Stage(Node("a", Shape(1, 0)))
    runner = stage.get("run", Shape(1))
    assert stage.refused("run", Shape(1)), "one more run waits in Ray's queue now"
    stage.crew.release(runner)
    stage.settle(placed=False)
    stage.crew.begin_round()
    assert stage.crew.request("validation", Shape(1)) is None
    assert [one.kind for one in stage.crew.members] == ["validation"]


def test_a_promise_that_ray_broke_by_placing_another_of_ours_is_seen_at_once() -> None:
    stage = Stage(Node("a", Shape(2, 0)))
    stage.get("run", Shape(1))
    stage.crew.begin_round()
    assert stage.crew.request("validation", Shape(1)) is None
    (judge,) = (one for one in stage.crew.members if one.kind == "validation")
    stage.crew._hire("run", Shape(1), frozenset(), promised=False)
    late = stage.crew.members[-1]
    stage.crew.arrived(late.coming, Berth("a", "host"))
    stage.crew.begin_round()
    assert not judge.promised
    assert stage.crew.request("validation", Shape(1)) is None
    assert late.actor in stage.ended and judge.promised, "the idle one gives way"


def test_actors_that_all_die_as_they_start_are_asked_for_ever_more_slowly_and_told_of_once() -> None:
    stage = Stage(Node("a", Shape(2, 0)))
    told, hired = [], []
    for second in range(120):
        stage.now = float(second)
        stage.crew.begin_round()
        stage.crew.request("run", Shape(1))
        for reference in stage.crew.coming():
            hired.append(second)
            told.append(stage.crew.arrived(reference, "no memory"))
    assert [one for one in told if one] == ["actors die as they start, still trying: no memory"]
    assert len(hired) < STILLBORN + 10 and hired[-1] > 60, hired
    stage.now = 300.0
    assert stage.get("run", Shape(1))
    stage.crew.begin_round()
    assert stage.crew.request("run", Shape(1)) is None and stage.crew.coming(), "one that lives ends the caution"


def test_a_judge_gives_way_to_runs_only_after_a_moment_and_a_runner_to_judges_at_once() -> None:
    stage = Stage(Node("a", Shape(1, 0)))
    judge = stage.get("validation", Shape(1))
    stage.crew.release(judge)
    stage.settle()
    assert stage.refused("run", Shape(1)) and not stage.ended
    stage.now = LINGER_SECONDS + 1
    runner = stage.get("run", Shape(1))
    assert stage.ended == [judge.actor]
    stage.crew.release(runner)
    stage.settle()
    assert stage.get("validation", Shape(1)) and stage.ended == [judge.actor, runner.actor]


def test_an_actor_that_idles_is_ended() -> None:
    stage = Stage(Node("a", Shape(2, 0)))
    member = stage.get("run", Shape(1))
    stage.crew.release(member)
    stage.settle()
    stage.now = IDLE_SECONDS - 1
    stage.crew.tidy({("run", Shape(1))})
    assert not stage.ended
    stage.now = IDLE_SECONDS + 1
    stage.crew.tidy({("run", Shape(1))})
    assert stage.ended == [member.actor]


def test_small_runs_pass_a_large_one_only_so_often() -> None:
    stage = Stage(Node("a", Shape(4, 0)))
    small = [stage.get("run", Shape(1)) for _ in range(4)]
    for _ in range(PASSES):
        stage.crew.begin_round()
        assert stage.crew.request("run", Shape(4)) is None
        stage.crew.release(small[0])
        stage.settle(placed=False)
        small[0] = stage.crew.request("run", Shape(1)) or small[0]
    assert stage.crew.kept == ("run", Shape(4), "a")
    for member in small:
        stage.crew.release(member)
        stage.settle(placed=False)
    stage.crew.begin_round()
    assert stage.crew.request("run", Shape(1)) is None, "a small run took the place that was kept"
    assert stage.get("run", Shape(4)) and stage.crew.kept is None


def test_a_node_that_lacks_something_is_left_out_and_told_of_once() -> None:
    stage = Stage(*NODES)
    stage.crew.begin_round()
    for _ in range(2):
        assert stage.crew.request("run", Shape(1)) is None
    told = [stage.crew.arrived(one, Berth("b", "host-b", "no sandbox there")) for one in stage.crew.coming()]
    assert told == ["left out: host-b: no sandbox there", None] and stage.crew.members == []
    stage.crew.begin_round()
    stage.crew.request("run", Shape(1))
    assert stage.closed[-1] == {"b"}


def test_a_node_that_keeps_failing_is_avoided_for_a_while_unless_it_is_the_last() -> None:
    stage = Stage(*NODES)
    for _ in range(STRIKES):
        stage.crew.strike("b", fault=True)
    stage.crew.begin_round()
    stage.crew.request("run", Shape(1))
    assert stage.closed[-1] == {"b"}
    stage.crew.request("run", Shape(8))
    assert stage.closed[-1] == frozenset()
    stage.now = AVOID_SECONDS + 1
    stage.crew.request("run", Shape(1))
    assert stage.closed[-1] == frozenset()


def test_a_success_clears_a_nodes_name() -> None:
    stage = Stage(*NODES)
    for fault in (True, True, False, True, True):
        stage.crew.strike("b", fault)
    stage.crew.request("run", Shape(1))
    assert stage.closed[-1] == frozenset()


def test_a_worn_or_dead_actor_is_replaced() -> None:
    stage = Stage(*NODES)
    member = stage.get("run", Shape(1))
    stage.crew.release(member)
    (reference,) = stage.crew.coming()
    stage.crew.arrived(reference, Berth("a", "host", worn="it has grown"))
    assert stage.ended == [member.actor] and not stage.crew.members
    stage.crew.request("run", Shape(1))
    stage.crew.arrived(*stage.crew.coming(), "it died")
    assert not stage.crew.members


@pytest.mark.parametrize(
    ("wear", "left", "now_mb", "word"),
    [
        (Wear(3, False, 100.0), [], 200.0, ""),
        (Wear(0, False, 0.0), [], 5000.0, ""),
        (Wear(3, True, 100.0), [], 200.0, "error"),
        (Wear(3, False, 100.0), ["sleep"], 200.0, "sleep"),
        (Wear(100, False, 100.0), [], 200.0, "100 pieces"),
        (Wear(3, False, 100.0), [], 2000.0, "grown by 1900 MB"),
    ],
)
def test_when_an_actor_is_worn(wear: Wear, left: list[str], now_mb: float, word: str) -> None:
    said = worn(wear, left, now_mb)
    assert word in said and bool(said) == bool(word)


def test_what_no_node_can_hold_is_refused() -> None:
    demand_placeable({Shape(8, 0), Shape(1, 1)}, NODES)
    with pytest.raises(UserError, match="no node can hold a run of 8 CPUs, 1 GPUs"):
        demand_placeable({Shape(8, 1)}, NODES)
    with pytest.raises(UserError, match=r"no node has GPU type or label 'H100' \(known: A100, zone=x\)"):
        demand_placeable({Shape(1, 1, 0, "H100")}, NODES)


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        (Shape(1, 1), Shape(1, 1)),
        (Shape(16, 0), Shape(8, 0)),
        (Shape(2, 8), Shape(2, 2)),
        (Shape(1, 0, 64), Shape(1, 0, 16)),
        (Shape(16, 4, 64), Shape(4, 2, 16)),
    ],
)
def test_the_mini_profile_takes_what_there_is(wanted: Shape, given: Shape) -> None:
    assert clamped(wanted, NODES) == given


def test_what_is_asked_of_ray() -> None:
    assert reservation(Shape(2, 0.5, 1.5)) == {
        "num_cpus": 2, "num_gpus": 0.5, "max_restarts": 0, "max_task_retries": 0, "memory": 3 << 29,
    }  # fmt: skip
    assert reservation(Shape(1, 1, 0, "A100"))["accelerator_type"] == "A100"
    selector = reservation(Shape(1, 1, 0, "zone=x"), {"n2", "n1"})["label_selector"]
    assert selector == {"zone": "x", "ray.io/node-id": "!in(n1,n2)"}
