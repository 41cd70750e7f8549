"""How commands run, end and live on inside a sandbox, the strong one and the weak one."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from sandbox.conftest import OpenCage, said

from mldevbench.errors import Fault
from mldevbench.sandbox.cage import Cage

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(params=["bubblewrap", "process"])
def cage(request: pytest.FixtureRequest, open_cage: OpenCage) -> Cage:
    return open_cage(request.param)


def wait_for(path: Path, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("no-such-program-x", 127)]
)
def test_exit_codes(cage: Cage, script: str, code: int) -> None:
    assert cage.run(["bash", "-c", script], seconds=30).exit_code == code


def test_a_missing_program_says_so(cage: Cage) -> None:
    done = cage.run(["no-such-program-x"], seconds=30)
    assert done.exit_code == 127
    assert b"no-such-program-x" in done.output


def test_stdin_of_any_size(cage: Cage) -> None:
    data = os.urandom(3_000_000)
    done = cage.run(["sha256sum"], seconds=30, stdin=data)
    import hashlib

    assert hashlib.sha256(data).hexdigest().encode() in done.output
    assert cage.run(["cat"], seconds=30).output == b""


def test_output_keeps_head_and_tail(cage: Cage) -> None:
    done = cage.run(["seq", "1", "200000"], seconds=30, keep_bytes=1000)
    assert done.output.startswith(b"1\n2\n")
    assert done.output.endswith(b"200000\n")
    assert b"bytes left out" in done.output
    assert len(done.output) < 1100
    assert done.output_bytes == sum(len(str(n)) + 1 for n in range(1, 200001))


def test_stdout_and_stderr_together_in_order(cage: Cage) -> None:
    assert said(cage, "echo one; echo two >&2; echo three") == "one\ntwo\nthree\n"


def test_environment_is_what_was_said(cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    done = cage.run(["env"], seconds=30, environment={"EXTRA": "1"})
    names = {line.split("=")[0] for line in done.output.decode().splitlines()}
    assert names <= {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "EXTRA", "MLDEVBENCH_SANDBOX"}
    assert "EXTRA=1" in done.output.decode()


def test_a_time_out_ends_the_command_and_its_children(cage: Cage) -> None:
    script = "echo begun; (while true; do sleep 1; done) & setsid sleep 1000 & sleep 1000"
    done = cage.run(["bash", "-c", script], seconds=1)
    assert done.timed_out
    assert done.exit_code is None
    assert done.output == b"begun\n"
    assert done.seconds < 30
    assert "sleep" not in said(cage, "ps -e -o comm=,args= | grep -w 'sleep 100[0]'")
    assert cage.breach() is None
    assert said(cage, "echo alive") == "alive\n"


def test_run_waits_for_the_exit_not_for_the_end_of_output(cage: Cage) -> None:
    started = time.monotonic()
    assert said(cage, "sleep 100 & echo done") == "done\n"
    assert time.monotonic() - started < 60


def test_background_children_live_on_and_may_go_on_printing(cage: Cage) -> None:
    workspace = cage.spec.workspace
    said(cage, "(for i in 1 2 3 4 5 6; do echo noise; sleep 0.1; done; touch survived) & true")
    wait_for(workspace / "survived")


def test_spawn_logs_into_the_workspace(cage: Cage) -> None:
    pid = cage.spawn(["bash", "-c", "echo hello; touch spawned; sleep 1000"], log="out.log")
    wait_for(cage.spec.workspace / "spawned")
    assert (cage.spec.workspace / "out.log").read_text() == "hello\n"
    assert said(cage, f"kill -0 {pid} && echo there") == "there\n"


def test_frozen_processes_do_nothing_until_thawed(cage: Cage) -> None:
    counter = cage.spec.workspace / "counter"
    cage.spawn(["bash", "-c", "while true; do echo x >> counter; done"], log="log")
    wait_for(counter)
    cage.freeze()
    size = counter.stat().st_size
    time.sleep(0.3)
    assert counter.stat().st_size == size
    cage.thaw()
    deadline = time.monotonic() + 30
    while counter.stat().st_size == size:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_nobody_writes_after_close(cage: Cage) -> None:
    counter = cage.spec.workspace / "counter"
    script = "trap '' TERM HUP INT; while true; do echo x >> counter; done"
    cage.run(["bash", "-c", f'(setsid bash -c "{script}" &) & nohup bash -c "{script}" >/dev/null & true'], seconds=30)
    wait_for(counter)
    cage.close()
    size = counter.stat().st_size
    time.sleep(0.3)
    assert counter.stat().st_size == size
    assert counter.stat().st_uid == os.geteuid()


def test_no_file_keeps_a_dangerous_mode_when_it_becomes_ours(cage: Cage) -> None:
    """A program that runs as its owner must not become root's."""
    said(cage, "cp /bin/true tool && chmod 6755 tool; mkdir shut && touch shut/x && chmod 000 shut")
    cage.close()
    assert not (cage.spec.workspace / "tool").stat().st_mode & 0o6000
    assert (cage.spec.workspace / "shut" / "x").exists()


def test_many_commands_at_once(cage: Cage) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: said(cage, f"sleep 0.0{n % 10}; echo {n}"), range(80)))
    assert answers == [f"{n}\n" for n in range(80)]


def test_a_pipe_that_someone_else_still_holds_disturbs_nothing(cage: Cage, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process does that another thread is just starting."""
    held: list[int] = []
    real = os.pipe2

    def held_pipe(flags: int) -> tuple[int, int]:
        read, write = real(flags)
        held.append(os.dup(read))
        return read, write

    monkeypatch.setattr(os, "pipe2", held_pipe)
    try:
        assert [said(cage, f"echo {number}") for number in range(5)] == [f"{number}\n" for number in range(5)]
    finally:
        for descriptor in held:
            os.close(descriptor)
    assert held


def test_a_closed_sandbox_refuses(cage: Cage) -> None:
    cage.close()
    cage.close()
    with pytest.raises(Fault, match="closed"):
        cage.run(["true"], seconds=1)


def test_a_sandbox_outlives_the_thread_that_opened_it(open_cage: OpenCage) -> None:
    import threading

    opened: list[Cage] = []
    thread = threading.Thread(target=lambda: opened.append(open_cage()))
    thread.start()
    thread.join()
    time.sleep(0.2)
    assert said(opened[0], "echo alive") == "alive\n"


def test_no_descriptor_is_left_open(open_cage: OpenCage) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    open_cage().close()  # the starting thread and its likes
    before = descriptors()
    for isolation in ("bubblewrap", "process"):
        cage = open_cage(isolation)
        said(cage, "sleep 100 & echo x")
        cage.close()
    assert descriptors() == before
