"""Warm calls: as confined as cold ones, fresh each time, and much faster."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from sandbox.conftest import namespace_of, said
from sandbox.test_intruder import INTRUDER

from mldevbench.records import StopReason
from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.capture import Capture
from mldevbench.sandbox.opening import opaque_folder
from mldevbench.sandbox.protocol import Limits, SandboxSpec
from mldevbench.sandbox.starter import children
from mldevbench.sandbox.zygote import Call, Zygote

pytestmark = pytest.mark.slow

STATE = """
import json, os
names = ("Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters")
status = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
state = {name: status[name].strip() for name in names}
state["uid"], state["cwd"], state["environ"] = os.getresuid(), os.getcwd(), sorted(os.environ)
state["ns"] = {n: os.readlink(f"/proc/self/ns/{n}") for n in ("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")}
state["mounts"] = open("/proc/self/mountinfo").read()
state["cgroup"] = open("/proc/self/cgroup").read()
state["fds"] = [n for n in os.listdir("/proc/self/fd") if int(n) < 3]
state["pids"] = len([n for n in os.listdir("/proc") if n.isdigit()])
state["environ file"] = [pair.split("=")[0] for pair in open("/proc/self/environ").read().split("\\0") if pair]
print(json.dumps(state, sort_keys=True))
"""
TRAIN = """
import torch
model = torch.nn.Linear(8, 2)
optimiser = torch.optim.Adam(model.parameters())
model(torch.rand(4, 8)).sum().backward()
optimiser.step()
print("trained")
"""


@pytest.fixture
def cage(zygote: Zygote, scratch: Path, task_venv: Path) -> Iterator[Cage]:
    with zygote.open(SandboxSpec(opaque_folder(scratch), venv=task_venv)) as opened:
        yield opened


def script(cage: Cage, text: str, name: str = "script.py") -> str:
    path = cage.spec.workspace / name
    path.write_text(text)
    path.chmod(0o644)
    return f"{cage.inside}/{name}"


def test_a_warm_child_is_confined_like_a_cold_one(zygote: Zygote, cage: Cage) -> None:
    import json

    path = script(cage, STATE)
    warm = json.loads(zygote.run(cage, path, seconds=60).output)
    cold = json.loads(cage.run(["python", path], seconds=60).output)
    assert set(warm.pop("environ file")) <= {"PWD"}  # what bwrap sets
    assert sorted(cold.pop("environ file")) == cold["environ"]
    assert warm == cold


def test_the_intruder_achieves_nothing_from_a_warm_child(zygote: Zygote, cage: Cage) -> None:
    from mldevbench import plugin

    module = plugin.load(INTRUDER)
    path = script(cage, module.Intruder({"search_seconds": 0}).program().decode(), "attack.py")
    done = zygote.run(cage, path, seconds=200, keep_bytes=1_000_000)
    assert module.achieved(done.output) == []


def test_arguments_input_output_and_exit_code(zygote: Zygote, cage: Cage) -> None:
    path = script(cage, "import sys; print(sys.argv[1:], sys.stdin.read(), __name__); sys.exit(5)")
    done = zygote.run(cage, path, ["a", "b"], seconds=60, stdin=b"in", environment={"X": "1"})
    assert (done.exit_code, done.output) == (5, b"['a', 'b'] in __main__\n")
    broken = zygote.run(cage, script(cage, "1 / 0"), seconds=60)
    assert broken.exit_code == 1 and b"ZeroDivisionError" in broken.output
    killed = zygote.run(cage, script(cage, "import os; os.kill(os.getpid(), 9)"), seconds=60)
    assert killed.exit_code == 137


def test_no_call_finds_anything_of_an_earlier_one(zygote: Zygote, cage: Cage) -> None:
    """A token of the first request must not be in the memory that the second inherits."""
    search = """
import sys
token = sys.stdin.read()[::-1].encode()
found = 0
for line in open("/proc/self/maps"):
    span, mode = line.split()[:2]
    start, end = (int(x, 16) for x in span.split("-"))
    if mode.startswith("rw") and "vvar" not in line:
        with open("/proc/self/mem", "rb") as memory:
            memory.seek(start)
            try: found += memory.read(end - start).count(token[:10] + token[10:])
            except OSError: pass
print("found", found)
"""
    token = b"tok-5e1f7a90c3"
    zygote.run(
        cage, script(cage, "import sys; sys.stdin.read()", "first.py"), [token.decode()], seconds=60, stdin=token
    )
    own = zygote.run(cage, script(cage, search, "search.py"), seconds=60, stdin=token[::-1])
    control = zygote.run(cage, script(cage, search, "search.py"), seconds=60, stdin=b"never-seen-0"[::-1])
    assert own.output.split()[0] == control.output.split()[0] == b"found"
    assert own.output == control.output  # both find only the copies that they made themselves


def test_every_call_draws_its_own_numbers(zygote: Zygote, cage: Cage) -> None:
    path = script(
        cage, "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1).item())"
    )
    draws = [zygote.run(cage, path, seconds=60).output.split() for _ in range(2)]
    assert all(len(draw) == 3 for draw in draws)
    assert not set(draws[0]) & set(draws[1])


def test_time_and_output_are_limited(zygote: Zygote, scratch: Path, task_venv: Path, cage: Cage) -> None:
    done = zygote.run(cage, script(cage, "print('begun', flush=True)\nwhile True: pass"), seconds=1)
    assert done.timed_out and done.exit_code is None and done.output == b"begun\n"
    spec = SandboxSpec(opaque_folder(scratch), venv=task_venv, limits=Limits(output_mb=1))
    with zygote.open(spec) as small:
        done = zygote.run(small, script(small, "while True: print('x' * 4096)"), seconds=60)
        assert not done.timed_out
        assert small.breach() == StopReason.OUTPUT


def test_memory_is_limited(zygote: Zygote, scratch: Path, task_venv: Path) -> None:
    spec = SandboxSpec(opaque_folder(scratch), venv=task_venv, limits=Limits(memory_mb=512))
    with zygote.open(spec) as small:
        hog = "import time\nheld = []\nwhile True: held.append(bytearray(16 << 20)); time.sleep(0.02)"
        done = zygote.run(small, script(small, hog), seconds=60)
        assert not done.timed_out and done.exit_code != 0
    assert small.breach() == StopReason.MEMORY


def test_children_of_a_call_end_with_the_sandbox(zygote: Zygote, cage: Cage) -> None:
    path = script(
        cage, "import os\nif not os.fork():\n os.setsid()\n if not os.fork():\n  import time; time.sleep(600)\n"
    )
    zygote.run(cage, path, seconds=60)
    namespace = namespace_of(cage)
    assert len(namespace.members()) > 1
    cage.close()
    assert namespace.members() == []


def test_a_sandbox_that_has_ended_is_said_to_have(zygote: Zygote, scratch: Path, task_venv: Path) -> None:
    spec = SandboxSpec(opaque_folder(scratch), venv=task_venv, limits=Limits(output_mb=1))
    with zygote.open(spec) as small:
        path = script(small, "while True: print('x' * 4096)")
        zygote.run(small, path, seconds=60)
        done = zygote.run(small, path, seconds=60)
        assert done.exit_code == 137 and b"ended" in done.output


def test_a_zygote_closed_at_once_leaves_nobody(task_venv: Path) -> None:
    for pause in (0, 0.002, 0.01, 0.03):
        early = Zygote(task_venv)
        assert early._program is not None
        time.sleep(pause)
        marker = f"/run/zygote.py\0{early._program.args[-1]}".encode()  # pyright: ignore
        own = {early._program.pid, *children(early._program.pid)}
        early.close()
        deadline = time.monotonic() + 10
        while (left := [pid for pid in own if marker in command_line(pid)]) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert left == []


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_without_a_zygote_a_fresh_python_does_it(task_venv: Path, cage: Cage) -> None:
    gone = Zygote(task_venv)
    gone.close()
    done = gone.run(cage, script(cage, "print('cold')"), seconds=60)
    assert done.output == b"cold\n"
    assert said(cage, "echo alive") == "alive\n"


def test_a_call_that_fails_makes_no_other_cold(
    zygote: Zygote, scratch: Path, task_venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late(call: Call, pidfd: int) -> None:
        raise ProcessLookupError

    with monkeypatch.context() as patched, zygote.open(SandboxSpec(opaque_folder(scratch), venv=task_venv)) as cage:
        patched.setattr(Call, "_admit", too_late)
        assert zygote.run(cage, script(cage, "print('cold')"), seconds=60).output == b"cold\n"
    assert zygote.ready()


def test_a_zygote_that_was_killed_is_missed(task_venv: Path, cage: Cage) -> None:
    with Zygote(task_venv) as killed:
        assert killed.ready() and killed._program
        os.kill(killed._program.pid, signal.SIGKILL)
        assert killed.run(cage, script(cage, "print('cold')"), seconds=60).output == b"cold\n"
        assert not killed.ready()


def test_a_warm_process_trains(zygote: Zygote, cage: Cage) -> None:
    assert zygote.run(cage, script(cage, TRAIN), seconds=60).output == b"trained\n"


def test_an_end_that_crosses_our_stop_is_heard() -> None:
    """A socket that is closed before all was read from it is reset; what was said last must not be lost with that."""
    call = Call(cast(Cage, None), Capture(100))
    call.status.send(b"stop")
    call._theirs.send(b"exit -9")
    call._theirs.close()
    try:
        assert call._hear() == (True, 137)
    finally:
        call.close()
        os.close(call._write)
