"""What ends a study before its plan, or an attempt before its time: limits, the clock, the node's memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import Cli

from cluster import driver as driving
from cluster.crew import Member
from cluster.driver import Driver
from cluster.job import Job, Policy
from cluster.rows import now_utc
from cluster.shape import Node, Shape
from mldevbench.catalog import Catalog
from mldevbench.plan import Plan
from mldevbench.records import AgentSpec, Budget, Outcome, Run
from mldevbench.store.lease import Lease
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore


def study(plugins: Path, *more: str) -> list[str]:
    return ["run", "--name", "s", "--root", str(plugins), "--agent", "watcher", "--sandbox", "bubblewrap", *more]


def store(tmp_path: Path) -> StudyStore:
    return StudyStore(open_place(str(tmp_path / "results" / "s")))


@pytest.fixture
def driver(plugins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    """Return a driver of two runs, one of them long, on four places whose actors only take orders."""
    monkeypatch.setattr(driving, "live_nodes", lambda: [Node("n", Shape(4, 0, 16))])
    spec, budget = AgentSpec("worker", "worker", "d", "scripted/none"), Budget(usd=2.0)
    runs = [Run(spec, task, "trial", "d", "mini", 0, 0, budget) for task in ("held", "quick")]
    store = StudyStore(open_place(str(tmp_path / "s")))
    policy = Policy(usd_limit=3.0, max_hours=1.0)
    job = Job("s", Plan(tuple(runs)), Catalog.of([plugins]), store, bytes(32), "process", policy=policy)
    made = Driver(job, Lease(store.place), lambda tally, finished: None)
    monkeypatch.setattr(made.crew, "request", lambda kind, shape: Member(0, kind, shape, None, None))
    monkeypatch.setattr(made.crew, "release", lambda member: None)
    monkeypatch.setattr(made.dispatch, "work", lambda track, member: object())
    made._take_up()
    return made


def test_a_limit_ends_a_study_only_when_nothing_under_way_can_leave_room(driver: Driver) -> None:
    driver._start_what_fits()
    assert (len(driver.errands), len(driver.waiting), driver.limit) == (1, 1, None)
    ((reference, errand),) = driver.errands.items()
    settled = replace(errand.track.rows[-1], cost_usd=0.5, archive="a", finished_at=now_utc())
    driver.accounts.ledger.charge(errand.track.run, settled)
    del driver.errands[reference]
    driver.committed = False
    driver._start_what_fits()
    assert (len(driver.errands), len(driver.waiting), driver.limit) == (1, 0, None)


def test_a_limit_that_holds_not_even_one_run_ends_it(driver: Driver) -> None:
    driver.accounts.ledger.usd = 2.0
    driver._start_what_fits()
    assert not driver.errands and driver.limit and "raise --limit" in driver.limit


def test_what_is_too_long_is_left_and_what_is_short_is_started(driver: Driver) -> None:
    driver.accounts.durations.earlier["worker", "held"] = 7200.0
    driver._start_what_fits()
    assert [one.track.run.task for one in driver.errands.values()] == ["quick"] and driver.limit is None
    driver.errands.clear()
    driver._see_to_limits()
    assert driver.limit == "what is left can't end within --max-hours"


@pytest.mark.slow
def test_a_limit_that_what_runs_may_use_up_is_waited_for_and_one_that_is_too_low_ends_it(
    cli: Cli, plugins: Path, tmp_path: Path
) -> None:
    """Each run may hold a GPU for six minutes, but there is none to be held: the limit is never used up."""
    words = study(plugins, "--task", "one_gpu", "--seeds", "3", "--budget", "minutes=2,wall_minutes=6")
    refused = cli(*words, "--limit", "gpu_hours=0.05")
    assert refused.returncode == 4 and "stopped: the study's limit leaves no room" in refused.stderr, refused.stderr
    assert list(store(tmp_path).attempts.all()) == []
    done = cli(*words, "--limit", "gpu_hours=0.1")
    assert done.returncode == 0, done.stderr
    attempts = sorted(store(tmp_path).attempts.all(), key=lambda one: one.started_at)
    assert [one.phase for one in attempts] == ["graded"] * 3
    ends = [one.finished_at for one in attempts]
    assert all(end and end <= next_.started_at for end, next_ in zip(ends, attempts[1:], strict=False)), (
        "over the limit"
    )


@pytest.mark.slow
def test_what_cannot_end_in_time_keeps_nothing_else_from_starting(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    long = plugins / "tasks" / "trial" / "held" / "task.yaml"
    text = long.read_text(encoding="utf-8")
    assert "expected_minutes" in text
    lines = [line if "expected_minutes" not in line else "expected_minutes: 600" for line in text.splitlines()]
    long.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = cli(*study(plugins, "--task", "held", "--task", "quick", "--seeds", "2", "--max-hours", "1"))
    assert done.returncode == 4 and "stopped: what is left can't end within --max-hours" in done.stderr, done.stderr
    assert [(row.task, row.outcome) for row in store(tmp_path).runs.all()] == [("quick", Outcome.PASSED)] * 2
