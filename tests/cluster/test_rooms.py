"""How much runs and validations reserve on the nodes that there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cluster.job import Job, Policy
from cluster.room import Rooms
from cluster.shape import Node, Shape
from mldevbench.catalog import Catalog
from mldevbench.errors import UserError
from mldevbench.plan import Plan
from mldevbench.records import AgentSpec, Budget, Run
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

Made = Callable[..., Rooms]


def run_of(task: str, gpus: float = 0.0, profile: str = "mini") -> Run:
    return Run(AgentSpec("worker", "worker", "d"), task, "trial", "d", profile, 0, 0, Budget(), gpus)


def node(cpus: float, gpus: float = 0.0, kinds: frozenset[str] = frozenset(), name: str = "n") -> Node:
    return Node(name, Shape(cpus, gpus, 16.0), kinds)


@pytest.fixture
def rooms(plugins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Made:
    monkeypatch.setenv("HOME", str(tmp_path))  # where an autoscaler would have left its own file

    def make(
        *nodes: Node, runs: tuple[Run, ...] = (run_of("quick"),), wait: bool = False, gpu_type: str = "",
        at_once: int | None = None,
    ) -> Rooms:  # fmt: skip
        store = StudyStore(open_place(str(tmp_path / "s")))
        job = Job(
            "s", Plan(runs), Catalog.of([plugins]), store, bytes(32), "process", gpu_type=gpu_type,
            policy=Policy(wait_for_nodes=wait, runs_at_once=at_once),
        )  # fmt: skip
        return Rooms(job, list(nodes))

    return make


def test_a_run_reserves_a_little_more_memory_than_its_sandbox_may_use(rooms: Made) -> None:
    assert rooms(node(4)).run(run_of("quick")) == Shape(1.0, 0.0, 0.75)


def test_in_mini_a_request_is_cut_to_the_largest_node_and_said_once(rooms: Made) -> None:
    asked = (run_of("four_gpu", 4.0), run_of("two_gpu", 2.0), run_of("quick"))
    made = rooms(node(2, 1.0), runs=asked)
    assert [made.run(run).gpus for run in asked] == [1.0, 1.0, 0.0]
    (note,) = made.notes
    assert note.startswith("no node is large enough: four_gpu asks for") and "1 more tasks" in note
    assert rooms(node(2, 4.0), runs=asked).notes == []


def test_in_full_what_no_node_can_hold_is_refused_unless_one_waits(rooms: Made) -> None:
    asked = (run_of("four_gpu", 4.0, "full"),)
    with pytest.raises(UserError, match="4 GPU"):
        rooms(node(2, 1.0), runs=asked)
    assert rooms(node(2, 1.0), runs=asked, wait=True).run(asked[0]).gpus == 4.0


def test_in_mini_too_who_waits_for_nodes_is_given_what_was_asked_for(rooms: Made) -> None:
    asked = (run_of("one_gpu", 1.0),)
    assert rooms(node(2), runs=asked).run(asked[0]).gpus == 0.0
    assert rooms(node(2), runs=asked, wait=True).run(asked[0]).gpus == 1.0


def test_in_full_nothing_is_judged_on_a_cpu_because_the_gpus_are_away(rooms: Made) -> None:
    asked = run_of("checkpoint", profile="full")
    made = rooms(node(2, 1.0), runs=(asked,))
    made.see([node(2)])
    assert made.validation(asked).gpus == 1.0 and made.validation(run_of("checkpoint")).gpus == 0.0


@pytest.mark.parametrize(
    ("nodes", "runs", "at_once", "expected"),
    [
        ((node(64, 4.0),), [run_of("one_gpu", 1.0)], None, 4),  # its GPUs are what is short, not its CPUs
        ((node(64, 4.0),), [run_of("one_gpu", 1.0), run_of("quick")], None, 8),
        ((node(64),), [run_of("quick")], None, 21),  # 16 GB, of which each takes 0.75
        ((node(8),), [run_of("quick")], 3, 3),
        ((node(8, 1.0),), [run_of("one_gpu", 0.5)], None, 2),
        ((), [run_of("quick")], None, 1),
    ],
)
def test_slots_are_what_the_scarcest_thing_allows(
    rooms: Made, nodes: tuple[Node, ...], runs: list[Run], at_once: int | None, expected: int
) -> None:
    assert rooms(*nodes, runs=tuple(runs), wait=not nodes, at_once=at_once).slots() == expected


def test_a_type_that_nobody_has_is_no_matter_of_size(rooms: Made) -> None:
    with pytest.raises(UserError, match="A100"):
        rooms(node(2, 1.0, frozenset({"T4"})), runs=(run_of("one_gpu", 1.0),), gpu_type="A100")


@pytest.mark.parametrize(("gpus", "expected"), [(0.0, Shape(0.0, 0.0)), (1.0, Shape(0.0, 1.0)), (8.0, Shape(0.0, 1.0))])
def test_validation_has_a_gpu_where_there_is_one(rooms: Made, gpus: float, expected: Shape) -> None:
    assert rooms(node(2, gpus)).validation(run_of("checkpoint")) == expected


def test_validation_has_a_cpu_of_its_own_where_there_are_four(rooms: Made) -> None:
    large, small = rooms(node(4), node(4)), rooms(node(2))
    assert large.validation(run_of("quick")) == Shape(1.0, 0.0) and large.judges == 2 and large.slots() == 8
    assert small.validation(run_of("quick")) == Shape(0.0, 0.0) and small.judges == 1 and small.slots() == 2


def test_the_accelerator_of_a_run_is_named_and_a_label_is_none(rooms: Made) -> None:
    made = rooms(node(2, 1.0, frozenset({"T4", "zone=a"})))
    assert made.gpu_type(run_of("one_gpu", 1.0), "n") == "T4"
    assert made.gpu_type(run_of("quick"), "n") is None and made.gpu_type(run_of("one_gpu", 1.0), "gone") is None


def test_waiting_for_nodes_that_all_lack_something_is_refused(rooms: Made) -> None:
    made = rooms(node(2, name="a"), node(2, name="b"))
    made.demand_some_fit({"a": "no bubblewrap"})
    with pytest.raises(UserError, match="no bubblewrap"):
        made.demand_some_fit({"a": "no bubblewrap", "b": "no bubblewrap"})
    made.see([node(2, name="b")])
    with pytest.raises(UserError, match="no bubblewrap"):
        made.demand_some_fit({"b": "no bubblewrap"})
    rooms(node(2, name="a"), wait=True).demand_some_fit({"a": "no bubblewrap"})
