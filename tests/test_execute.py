"""The working half of an attempt, without Ray: how it ends, and what it leaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.agent import load_agent
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.errors import Fault
from mldevbench.execute import Attempt, Means, Order
from mldevbench.records import AgentSpec, Budget, Run, StopReason, Submitted
from mldevbench.sandbox.opening import choose
from mldevbench.store.place import open_place
from mldevbench.trajectory import stored_steps


@pytest.fixture
def attempt(plugins: Path, tmp_path: Path, task_venv: Path):
    def make(agent: str, task: str = "quick", budget: Budget | None = None) -> Attempt:
        catalog = Catalog.of([plugins])
        found, worker = catalog.task(task), catalog.agent(agent)
        spec = AgentSpec(agent, agent, worker.digest())
        run = Run(spec, task, found.category, "digest", "mini", 0, 0, budget or Budget())
        order = Order("study", run, 1, Draw.of(bytes(32), task, 0), choose("auto", trusted=True))
        means = Means(
            task=found,
            agent=load_agent(worker.folder),
            venv=task_venv,
            scratch=tmp_path / "scratch",
            place=open_place(str(tmp_path / "study")),
            solution=found.folder / "solution" if worker.file.gives else None,
        )
        return Attempt(order, means)

    return make


def left(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "scratch").rglob("*"))


def test_an_attempt_ends_in_a_submission_and_leaves_nothing(attempt, tmp_path: Path) -> None:
    done: Submitted = attempt("oracle").execute()
    assert done.stop_reason is StopReason.FINISHED and done.detail == ""
    assert (tmp_path / "study" / done.archive).is_file()
    assert left(tmp_path) == []
    steps = stored_steps(open_place(str(tmp_path / "study")).child(f"artifacts/{done.run_id}/1"))
    assert [step.tool for step in steps] == ["shell", "shell"]


def test_an_agent_whose_program_breaks_is_judged_by_what_is_there(attempt) -> None:
    done = attempt("crasher").execute()
    assert done.stop_reason is StopReason.AGENT_ERROR and "ZeroDivisionError" in done.detail


@pytest.mark.slow
def test_the_hard_stop_ends_an_agent_with_its_children(attempt) -> None:
    done = attempt("sleeper", budget=Budget(minutes=60, wall_minutes=0.05)).execute()
    assert done.stop_reason is StopReason.WALL_MINUTES
    assert done.wall_seconds < 60


@pytest.mark.slow
def test_the_working_time_ends_an_agent(attempt) -> None:
    done = attempt("sleeper", budget=Budget(minutes=0.05)).execute()
    assert done.stop_reason is StopReason.MINUTES


@pytest.mark.slow
def test_an_attempt_that_is_stopped_from_outside_is_no_result(attempt, tmp_path: Path) -> None:
    import threading

    one = attempt("sleeper")
    threading.Timer(2, one.stop).start()
    with pytest.raises(Fault, match="cancelled"):
        one.execute()
    assert left(tmp_path) == []
