"""One run: shown while it works, declared void with a reason, repeated in a study of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support import Cli

from cluster.rows import Ending, Facts, ended_row, run_row, started_row
from cluster.track import Scribe
from mldevbench import frozen
from mldevbench.plan import plan
from mldevbench.records import AgentSpec, AttemptRow, Budget, Cause, Outcome, Run, RunRow, Step, StopReason
from mldevbench.standing import standing_of
from mldevbench.store.lease import Lease
from mldevbench.store.place import open_place
from mldevbench.store.study_store import Finished, StudyStore
from mldevbench.study import Request, TaskRef
from mldevbench.trajectory import to_line

NOW = datetime(2026, 1, 1, tzinfo=UTC)
REQUEST = Request(
    agents=(AgentSpec("noop", "noop", "digest"),),
    tasks=(TaskRef("hello_world", "extra", "task", "validator", 0.0, 1.0),),
    profile="mini",
    seeds=(0, 1),
    instances=1,
    budgets=(Budget(),),
)
FACTS = Facts("s", "salt", {"hello_world": "validator"})


@pytest.fixture
def store(tmp_path: Path) -> StudyStore:
    store = StudyStore(open_place(str(tmp_path / "results" / "s")))
    frozen.add_request(store.place, "s", REQUEST)
    return store


def runs() -> tuple[Run, ...]:
    return plan([REQUEST]).runs


def finish(store: StudyStore, run: Run, outcome: Outcome = Outcome.PASSED) -> RunRow:
    ending = Ending(outcome, stop_reason=StopReason.FINISHED)
    attempt = ended_row(replace(started_row(FACTS, run, 1, NOW), phase="submitted"), ending, NOW)
    row = run_row(FACTS, run, [attempt], ending, 0.0, NOW)
    store.commit(Finished(row, attempt))
    return row


def attempts(store: StudyStore, run: Run) -> list[AttemptRow]:
    again = StudyStore(store.place)
    again.open()
    return again.attempts_of(run.run_id)


def test_a_void_by_hand_leaves_the_count_and_is_owed_again(cli: Cli, store: StudyStore) -> None:
    first, second = runs()
    finish(store, first)
    finish(store, second)
    done = cli("void", "s", first.run_id[:8], "--reason", "the disk was full", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["outcome_before"] == "passed"
    standing = standing_of(StudyStore(store.place))
    assert (standing.passed, standing.void, standing.owed) == (1, 1, 1)
    (attempt,) = attempts(store, first)
    assert (attempt.outcome, attempt.cause, attempt.detail) == (Outcome.VOID, Cause.MANUAL, "the disk was full")
    again = _opened(store)
    track = Scribe(again, FACTS).resume(first, again.attempts_of(first.run_id))
    assert track.submitted is None and track.attempt == 1, "the next attempt would not start afresh"
    shown = cli("show", "s", first.run_id)
    assert "void (manual)" in shown.stdout and "the disk was full" in shown.stdout
    listed = cli("runs", "s", "--cause", "manual", "--json")
    assert [row["run_id"] for row in json.loads(listed.stdout)] == [first.run_id]


def _opened(store: StudyStore) -> StudyStore:
    again = StudyStore(store.place)
    again.open()
    return again


def test_what_cannot_be_declared_void(cli: Cli, store: StudyStore) -> None:
    first, second = runs()
    finish(store, first)
    for words, said in (
        ((second.run_id, "--reason", "x"), "has no result yet"),
        ((first.run_id, "--reason", " "), "say why"),
        (("ffff", "--reason", "x"), "unknown run 'ffff'"),
    ):
        done = cli("void", "s", *words)
        assert done.returncode == 2 and said in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("words", "number"),
    [
        (("--outcome", "failed"), 1),
        (("--category", "extra"), 2),
        (("--instance", "1"), 0),
        (("--stop-reason", "finished", "--seed", "0"), 1),
        (("--node", "elsewhere"), 0),
    ],
)
def test_runs_are_filtered(cli: Cli, store: StudyStore, words: tuple[str, ...], number: int) -> None:
    first, second = runs()
    finish(store, first)
    finish(store, second, Outcome.FAILED)
    assert len(json.loads(cli("runs", "s", *words, "--json").stdout)) == number


@pytest.mark.slow
def test_a_run_at_work_is_followed_to_its_end(store: StudyStore, tmp_path: Path, clean_environment: None) -> None:
    run = runs()[0]
    lease = Lease(store.place)
    lease.take()
    store.attempt(started_row(FACTS, run, 1, NOW))
    say(store, run, 0, "the first step")
    command = [sys.executable, "-m", "mldevbench", "show", "s", run.run_id, "--follow"]
    with subprocess.Popen(command, cwd=tmp_path, text=True, stdout=-1, stderr=-1) as shown:
        assert shown.stdout
        assert until_line(shown, "the first step")
        say(store, run, 1, "the second step")
        assert until_line(shown, "the second step")
        finish(store, run)
        rest = shown.stdout.read()
    lease.release()
    assert shown.returncode == 0 and f"run {run.run_id}: passed" in rest


def say(store: StudyStore, run: Run, number: int, text: str) -> None:
    line = to_line(Step("note", text=text, number=number)).encode() + b"\n"
    store.place.write(f"artifacts/{run.run_id}/1/trajectory-{number:05d}.jsonl", line)


def until_line(process: subprocess.Popen[str], wanted: str) -> bool:
    assert process.stdout
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        line = process.stdout.readline()
        if wanted in line:
            return True
        if not line:
            return False
    return False


def test_a_follower_of_a_dead_driver_ends(cli: Cli, store: StudyStore) -> None:
    store.attempt(started_row(FACTS, runs()[0], 1, NOW))
    done = cli("show", "s", runs()[0].run_id, "--follow")
    assert done.returncode == 0 and "no driver is at work" in done.stderr
    assert "started, no result yet" in done.stdout
    log = cli("show", "s", runs()[0].run_id, "--log")
    assert "Attempts" in log.stdout and "started" in log.stdout


@pytest.mark.slow
def test_a_run_is_repeated_in_a_study_of_its_own(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    words = ("--root", str(plugins))
    first = cli(
        "run", "--name", "s", *words, "--agent", "worker", "--task", "quick", "--seeds", "2", "--instances", "2"
    )
    assert first.returncode == 0, first.stderr
    store = StudyStore(open_place(str(tmp_path / "results" / "s")))
    row = next(row for row in store.runs.all() if row.seed == 1 and row.instance == 1)
    done = cli("rerun", "s", row.run_id[:8], *words)
    assert done.returncode == 0, done.stderr
    name = f"s-rerun-{row.run_id[:8]}"
    (again,) = StudyStore(open_place(str(tmp_path / "results" / name))).runs.all()
    assert (again.run_id, again.seed, again.instance, again.outcome) == (row.run_id, 1, 1, row.outcome)
    assert again.salt_digest == row.salt_digest and again.finished_at > row.finished_at
    assert len(list(store.runs.all())) == 4, "the study itself was touched"
