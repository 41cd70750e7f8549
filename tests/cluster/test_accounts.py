"""What a study writes down as its runs start, are lost, submitted and judged; and how the next driver takes it up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cluster.accounts import Accounts
from cluster.job import Job, Policy
from cluster.validation_actor import Graded
from mldevbench.catalog import Catalog
from mldevbench.errors import Fault
from mldevbench.plan import Plan
from mldevbench.records import (
    AgentSpec,
    Budget,
    Cause,
    Check,
    Metric,
    Outcome,
    Run,
    Step,
    StopReason,
    Submitted,
    Usage,
    Verdict,
)
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import Trajectory
from mldevbench.validate import Judgement

Open = Callable[..., Accounts]
VERDICT = Verdict((Check("answer", True, "yes", "yes"),), (Metric("accuracy", 0.75),), "accuracy")
LOST = Fault(Cause.NODE_LOST, "the actor died")


@pytest.fixture
def opened(plugins: Path, tmp_path: Path) -> Open:
    """Return a driver's books of a study of some seeds; each call is another driver on the same storage."""

    def make(seeds: int = 1, **policy: object) -> Accounts:
        spec, budget = AgentSpec("worker", "worker", "d", "scripted/none"), Budget(usd=2.0)
        runs = [Run(spec, "quick", "trial", "d", "mini", 0, seed, budget, gpus=2.0) for seed in range(seeds)]
        store = StudyStore(open_place(str(tmp_path / "s")))
        catalog = Catalog.of([plugins])
        return Accounts(Job("s", Plan(tuple(runs)), catalog, store, bytes(32), "process", policy=Policy(**policy)))  # type: ignore[arg-type]

    return make


def handed_in(run: Run, attempt: int = 1) -> Submitted:
    now = datetime.now(UTC)
    return Submitted(
        run.run_id, attempt, f"artifacts/{run.run_id}/{attempt}/submission.tar", "0" * 64, StopReason.FINISHED, "",
        Usage(3, 100, 20, cost_usd=0.5), now, now, 10.0, 8.0, "process", "none", "node",
    )  # fmt: skip


def phases(accounts: Accounts) -> list[tuple[int, str, Cause | None]]:
    return [(row.attempt, row.phase, row.cause) for row in accounts.job.store.attempts.all()]


def test_each_phase_is_durable_and_a_judged_run_is_owed_no_more(opened: Open) -> None:
    accounts = opened()
    (track,) = accounts.take_up()
    assert accounts.start(track) and phases(opened()) == [(1, "started", None)]
    accounts.submitted(track, handed_in(track.run))
    assert phases(opened()) == [(1, "submitted", None)]
    row = accounts.judged(track, Graded(Judgement(VERDICT), 4.0))
    assert (row.outcome, row.score, row.attempts, row.validate_seconds) == (Outcome.PASSED, 0.75, 1, 4.0)
    assert (row.cost_usd, row.spent_usd, row.gpu_seconds, row.total_tokens) == (0.5, 0.5, 20.0, 120)
    later = opened()
    assert later.take_up() == [] and (later.tally.passed, later.tally.usd) == (1, 0.5)
    assert list(later.job.store.runs.all()) == [row]
    assert [(one.name, one.passed) for one in later.job.store.checks.all()] == [("answer", True)]


def test_a_lost_agent_is_tried_again_until_the_retries_are_used_up(opened: Open) -> None:
    accounts = opened(void_retries=1)
    (track,) = accounts.take_up()
    accounts.start(track)
    assert accounts.lost(track, LOST) is None and track.not_before > 0
    accounts.start(track)
    row = accounts.lost(track, LOST)
    assert row and (row.outcome, row.cause, row.attempts, row.score) == (Outcome.VOID, Cause.NODE_LOST, 2, None)
    assert phases(accounts) == [(1, "lost", Cause.NODE_LOST), (2, "lost", Cause.NODE_LOST)]
    assert accounts.tally.void == 1 and accounts.tally.owed == 1
    (again,) = opened().take_up()
    assert again.attempt == 2, "a void run stays owed, and its attempts are counted on"
    assert opened(only="new").take_up() == []
    assert len(opened(only="void").take_up()) == 1


def test_what_vanished_with_its_node_costs_no_retry(opened: Open) -> None:
    accounts = opened(void_retries=0)
    (track,) = accounts.take_up()
    for _ in range(3):
        accounts.start(track)
        assert accounts.lost(track, LOST, with_node=True) is None
    accounts.start(track)
    assert accounts.lost(track, LOST) is not None


def test_a_lost_validation_leaves_the_attempt_as_it_was(opened: Open) -> None:
    accounts = opened()
    (track,) = accounts.take_up()
    accounts.start(track)
    submitted = handed_in(track.run)
    accounts.submitted(track, submitted)
    assert accounts.lost(track, LOST) is None
    assert phases(accounts) == [(1, "submitted", None)]
    (taken_up,) = opened().take_up()
    assert taken_up.submitted == submitted, "the next driver would run the agent again"
    row = accounts.judged(track, Graded(Judgement(VERDICT), 1.0))
    assert (row.outcome, row.attempts) == (Outcome.PASSED, 1)


def test_a_submission_that_cannot_be_judged_fails_and_says_why(opened: Open) -> None:
    accounts = opened()
    (track,) = accounts.take_up()
    accounts.start(track)
    accounts.submitted(track, handed_in(track.run))
    judgement = Judgement(None, stop_reason=StopReason.UNVALIDATABLE, detail="ValueError: no number")
    row = accounts.judged(track, Graded(judgement, 1.0))
    assert (row.outcome, row.stop_reason, row.score) == (Outcome.FAILED, StopReason.UNVALIDATABLE, None)
    (attempt,) = accounts.job.store.attempts.all()
    assert attempt.detail == "ValueError: no number" and accounts.tally.failed == 1


def test_an_attempt_that_its_driver_left_behind_is_lost_and_charged(opened: Open, tmp_path: Path) -> None:
    accounts = opened()
    (track,) = accounts.take_up()
    accounts.start(track)
    place = accounts.job.store.place.child(f"artifacts/{track.run.run_id}/1")
    with Trajectory(tmp_path / "trajectory.jsonl", place) as trajectory:
        trajectory.record(Step("model", "…", usage=Usage(1, 50, 5, cost_usd=0.25)))
        trajectory.record(Step("tool", "…", tool="shell"))
    later = opened()
    (again,) = later.take_up()
    assert phases(later) == [(1, "lost", Cause.DRIVER_LOST)]
    (row,) = later.job.store.attempts.all()
    assert (row.steps, row.prompt_tokens, row.cost_usd) == (1, 50, 0.25)
    later.start(again)
    later.submitted(again, handed_in(again.run, 2))
    finished = later.judged(again, Graded(Judgement(VERDICT), 1.0))
    assert (finished.attempts, finished.cost_usd, finished.spent_usd) == (2, 0.5, 0.75)


def test_nothing_starts_that_the_studys_limit_has_no_room_for(opened: Open) -> None:
    accounts = opened(seeds=3, usd_limit=4.5)
    first, second, third = accounts.take_up()
    assert accounts.start(first) and accounts.start(second) and not accounts.start(third)
    accounts.submitted(first, handed_in(first.run))  # half a dollar of the two that were reserved
    assert accounts.start(third)


@pytest.mark.parametrize("by_driver", [True, False], ids=["driver", "node"])
def test_an_attempt_that_was_cut_off_is_charged_all_that_it_may_have_spent(opened: Open, by_driver: bool) -> None:
    accounts = opened(seeds=2, usd_limit=3.5)
    first, _ = accounts.take_up()
    accounts.start(first)
    if not by_driver:
        accounts.lost(first, LOST, with_node=True)
        assert not accounts.start(first), "two dollars may be gone, though no segment tells of any"
    later = opened(seeds=2, usd_limit=3.5)
    again, other = later.take_up()
    assert not later.start(again) and not later.start(other)
    assert later.ledger.usd == 2.0 and later.ledger.gpu_seconds < 600, "GPUs are charged for the time that has passed"
    higher = opened(seeds=2, usd_limit=4.0)
    again, other = higher.take_up()
    assert higher.start(again) and not higher.start(other)


def test_an_attempt_that_ended_in_order_is_charged_what_it_says(opened: Open) -> None:
    accounts = opened(usd_limit=2.5)
    (track,) = accounts.take_up()
    accounts.start(track)
    accounts.lost(track, Fault(Cause.PROVIDER_ERROR, "down"))
    assert accounts.ledger.usd == 0.0 and accounts.start(track)
    accounts.submitted(track, handed_in(track.run, 2))
    accounts.lost(track, LOST)
    later = opened(usd_limit=2.5)
    later.take_up()
    assert later.ledger.usd == 0.5, "what was handed in has said what it cost, whatever became of its judge"


def test_what_a_person_cancelled_stays_owed(opened: Open) -> None:
    accounts = opened()
    (track,) = accounts.take_up()
    accounts.start(track)
    accounts.cancel(track)
    assert phases(accounts) == [(1, "lost", Cause.CANCELLED)]
    assert list(accounts.job.store.runs.all()) == [] and len(opened().take_up()) == 1
