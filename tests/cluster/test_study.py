"""Whole studies on embedded Ray: killed, interrupted, edited, read while they run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from support import Cli

from mldevbench.records import AttemptRow, Outcome, RunRow
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import stored_steps

pytestmark = pytest.mark.slow

Start = Callable[..., subprocess.Popen[str]]
DEADLINE = 200.0


@pytest.fixture
def start(tmp_path: Path, clean_environment: None) -> Iterator[Start]:
    """Start a command and go on; whatever still runs at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def run(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "mldevbench", *words]
        log = (tmp_path / f"log-{len(started)}").open("w")
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log, text=True, start_new_session=True)
        log.close()
        started.append(process)
        return process

    yield run
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def store_of(tmp_path: Path, name: str = "s") -> StudyStore:
    return StudyStore(open_place(str(tmp_path / "results" / name)))


def rows(tmp_path: Path) -> list[RunRow]:
    return list(store_of(tmp_path).runs.all())


def attempts(tmp_path: Path) -> list[AttemptRow]:
    return list(store_of(tmp_path).attempts.all())


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        assert process is None or process.poll() is None, "the command ended too early"
        time.sleep(0.1)


def study(plugins: Path, *more: str, agent: str = "worker", task: str = "quick") -> list[str]:
    return ["run", "--name", "s", "--root", str(plugins), "--agent", agent, "--task", task, *more]


def test_a_killed_driver_goes_on_where_it_was(start: Start, cli: Cli, plugins: Path, tmp_path: Path) -> None:
    words = study(plugins, "--seeds", "20")
    first = start(*words)
    glob = str(tmp_path / "results" / "*" / "runs" / "*.parquet")

    def half() -> bool:
        if not list(tmp_path.glob("results/*/runs/*.parquet")):
            return False
        (seen,) = duckdb.sql(f"select count(*), count(distinct run_id) from read_parquet('{glob}')").fetchall()
        assert seen[0] == seen[1], "a reader saw a run twice"
        return seen[0] >= 5

    wait_until(half, first)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    before = {row.run_id: row for row in rows(tmp_path)}
    assert 5 <= len(before) < 20
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    after = {row.run_id: row for row in rows(tmp_path)}
    assert len(after) == 20 and len(rows(tmp_path)) == 20
    assert {run_id: after[run_id] for run_id in before} == before
    assert sum(row.outcome is Outcome.PASSED for row in after.values()) == 10
    assert "Table 3" in done.stdout


def test_a_submitted_attempt_owes_validation_only(start: Start, cli: Cli, plugins: Path, tmp_path: Path) -> None:
    words = study(plugins, task="held")
    first = start(*words)
    wait_until(lambda: [row.phase for row in attempts(tmp_path)] == ["submitted"], first)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    (plugins / "tasks" / "trial" / "held" / "hidden" / "hold").unlink()
    done = cli(*words)
    assert done.returncode == 0, done.stderr
    (row,) = rows(tmp_path)
    assert row.outcome is Outcome.PASSED and row.attempts == 1
    (attempt,) = attempts(tmp_path)
    assert attempt.phase == "graded"
    place = store_of(tmp_path).place.child(f"artifacts/{row.run_id}/1")
    assert len(stored_steps(place)) == 1, "the agent ran again"


def test_an_interrupt_keeps_what_is_finished(start: Start, cli: Cli, plugins: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gate"  # only the first seed ends before it opens
    words = study(plugins, "--seeds", "4", "--param", f"gate={gate}", agent="gated")
    first = start(*words)
    wait_until(lambda: len(rows(tmp_path)) == 1, first)
    began = time.monotonic()
    os.kill(first.pid, signal.SIGINT)
    assert first.wait(timeout=60) == 130
    print(f"ended {time.monotonic() - began:.2f} s after the interrupt")
    assert len(rows(tmp_path)) == 1
    status = cli("status", "s", "--root", str(plugins))
    assert "1 of 4 runs done" in status.stdout and "driver: none" in status.stdout
    gate.touch()
    done = cli(*words, "--json")
    assert done.returncode == 0 and '"owed": 0' in done.stdout


def test_nothing_of_an_agent_outlives_a_killed_driver(start: Start, plugins: Path, tmp_path: Path) -> None:
    first = start(*study(plugins, agent="sleeper"), "--sandbox", "bubblewrap")
    marked = lambda: sleepers(["3600"])  # noqa: E731 - read again and again
    already = set(marked())
    wait_until(lambda: len(set(marked()) - already) >= 2, first)
    mine = set(marked()) - already
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert gone(mine)


def test_a_killed_run_actor_leaves_nothing_and_its_run_is_tried_again(
    start: Start, plugins: Path, tmp_path: Path
) -> None:
    first = start(
        *study(plugins, "--sandbox", "bubblewrap", "--budget", "minutes=60,wall_minutes=0.3", agent="sleeper")
    )
    already = set(sleepers(["3600"]))
    wait_until(lambda: len(set(sleepers(["3600"])) - already) >= 2, first)
    mine = set(sleepers(["3600"])) - already
    (actor,) = (pid for pid in family(first.pid) if title(pid).startswith("ray::RunWorker"))
    os.kill(actor, signal.SIGKILL)
    assert gone(mine)
    assert first.wait(timeout=DEADLINE) == 0
    (row,) = rows(tmp_path)
    assert (row.outcome, row.attempts, row.stop_reason) == (Outcome.PASSED, 2, "wall_minutes")
    assert [(one.phase, one.cause) for one in attempts(tmp_path)] == [("lost", "node_lost"), ("graded", None)]


@pytest.mark.parametrize("how", ["cancel", "drain", "signal"])
def test_a_study_is_cancelled_from_anywhere(start: Start, cli: Cli, plugins: Path, tmp_path: Path, how: str) -> None:
    first = start(*study(plugins, "--seeds", "40"))
    wait_until(lambda: len(rows(tmp_path)) >= 2, first)
    if how == "signal":
        os.kill(first.pid, signal.SIGUSR1)
    else:
        assert cli("cancel", "s", *(["--drain"] if how == "drain" else [])).returncode == 0
    assert first.wait(timeout=60) == 3
    kept = len(rows(tmp_path))
    assert 2 <= kept < 40
    causes = {one.cause for one in attempts(tmp_path) if one.phase == "lost"}
    assert causes <= {"cancelled"} if how == "cancel" else causes == set()
    refused = cli("cancel", "s")
    assert refused.returncode == 2 and "isn't running" in refused.stderr
    assert cli(*study(plugins, "--seeds", "40", "--dry-run")).stdout.count(f"done           {kept}") == 1


def gone(pids: set[int]) -> bool:
    """Wait for processes to be gone: five seconds on a machine of one's own, more beside busy neighbours."""
    began = time.monotonic()
    while pids & set(sleepers(["3600"])) and time.monotonic() < began + 30:
        time.sleep(0.05)
    print(f"gone after {time.monotonic() - began:.2f} s")
    return not pids & set(sleepers(["3600"]))


def title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def sleepers(words: list[str]) -> list[int]:
    """Return the processes that sleep as the sleeper's children do, by their pids."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parts = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parts[:1] == [b"sleep"] and [part.decode() for part in parts[1:-1]] == words:
            found.append(int(folder.name))
    return found


def test_additions_are_welcome_and_differences_refused(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    assert cli(*study(plugins)).returncode == 0
    before = rows(tmp_path)
    more = cli(*study(plugins, "--agent", "noop", "--seeds", "2"))
    assert more.returncode == 0, more.stderr
    assert len(rows(tmp_path)) == 4 and before[0] in rows(tmp_path)
    refused = cli(*study(plugins, "--profile", "full"))
    assert refused.returncode == 2 and "study 's' has profile 'mini', not 'full'" in refused.stderr
    weak = cli(*study(plugins, "--sandbox", "process"))
    assert weak.returncode == 2 and "isolation" in weak.stderr
    agent = plugins / "agents" / "worker" / "agent.py"
    agent.write_text(agent.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    plan = cli(*study(plugins), "--dry-run")
    assert "owed           1" in plan.stdout, plan.stdout
    judge = plugins / "tasks" / "trial" / "quick" / "validate.py"
    judge.write_text(judge.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    status = cli("status", "s", "--root", str(plugins))
    assert "the validator changed since for: quick" in status.stdout
    assert "changed since, so the same command makes new runs: worker" in status.stdout
    stored = rows(tmp_path)
    judge.write_text(judge.read_text(encoding="utf-8").replace('"yes")', '"no")'), encoding="utf-8")
    again = cli("regrade", "s", "--root", str(plugins))
    assert again.returncode == 0, again.stderr
    assert "4 judged again, 2 changed" in again.stdout
    assert rows(tmp_path) == stored, "a regrade overwrote a result"
    assert "nothing to judge again" in cli("regrade", "s", "--root", str(plugins)).stderr


def test_a_finished_study_can_be_looked_at(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    late = cli(*study(plugins, "--agent", "crasher", "--seeds", "2"), "--max-hours", "0.00001")
    assert late.returncode == 4 and "can't end within --max-hours" in late.stderr, late.stderr
    done = cli(*study(plugins, "--agent", "crasher", "--seeds", "2"))
    assert done.returncode == 0, done.stderr
    assert len(pq.read_table(tmp_path / "results" / "s" / "runs")) == 4
    listed = cli("runs", "s", "--outcome", "failed", "--json")
    assert listed.stdout.count('"run_id"') == 1
    run_id = next(row.run_id for row in rows(tmp_path) if row.agent == "worker")
    shown = cli("show", "s", run_id[:8])
    assert shown.returncode == 0 and "answer" in shown.stdout, shown.stderr
    assert "tool shell" in cli("show", "s", run_id, "--trajectory").stdout
    for name, mark in {"md": "| task |", "csv": "table,task", "json": '"title"', "tex": r"\begin{tabular}"}.items():
        report = cli("report", "s", "--format", name)
        assert report.returncode == 0 and mark in report.stdout
    crashed = next(row for row in rows(tmp_path) if row.agent == "crasher")
    assert (crashed.outcome, crashed.stop_reason) == (Outcome.PASSED, "agent_error")


def test_embedded_ray_listens_on_loopback_only(start: Start, plugins: Path, tmp_path: Path) -> None:
    first = start(*study(plugins, agent="sleeper"))
    wait_until(lambda: [row.phase for row in attempts(tmp_path)] == ["started"], first)
    open_to_all = [address for pid in family(first.pid) for address in listening(pid) if address not in LOOPBACK]
    assert open_to_all == []


LOOPBACK = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}


def family(pid: int) -> list[int]:
    """Return a process with all that came from its session."""
    session = os.getsid(pid)
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(folder.name)) == session:
                found.append(int(folder.name))
        except ProcessLookupError:
            continue
    return found


def listening(pid: int) -> list[str]:
    """Return the addresses, in hexadecimal, that a process listens on."""
    try:
        links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()]
        tables = [Path(f"/proc/{pid}/net/{name}").read_text(encoding="ascii") for name in ("tcp", "tcp6")]
    except OSError:
        return []
    inodes = {link[8:-1] for link in links if link.startswith("socket:[")}
    lines = [line.split() for table in tables for line in table.splitlines()[1:]]
    return [parts[1].split(":")[0] for parts in lines if parts[3] == "0A" and parts[9] in inodes]
