"""The supervisor's sudden death: nothing inside outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sandbox.conftest import Namespace

from mldevbench.sandbox.opening import available, opaque_folder

SUPERVISOR = """
import sys, time
from pathlib import Path
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import SandboxSpec
cage = open_sandbox(SandboxSpec(Path(sys.argv[1])), sys.argv[2])
loop = "trap '' TERM HUP INT; while true; do date +%N >> beat; sleep 0.05; done"
cage.run(["bash", "-c", f'(setsid bash -c "{loop}" &) & nohup bash -c "{loop}" > /dev/null 2>&1 & true'], seconds=60)
cage.spawn(["bash", "-c", "until [ -e leave ]; do sleep 0.02; done; touch left"], log="log")
if sys.argv[3] == "frozen":
    cage.freeze()
alone = cage.isolation == "bubblewrap"
keeper = cage.wall.launched.pid if alone else 0
print(keeper, cage.wall.environment.get("MLDEVBENCH_SANDBOX"), flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("state", ["running", "frozen", "deaf"])
@pytest.mark.parametrize("isolation", ["bubblewrap", "process"])
def test_sigkill_of_the_supervisor_leaves_nobody(scratch: Path, isolation: str, state: str) -> None:
    if (problem := available(isolation)) is not None:
        pytest.skip(problem)
    workspace = opaque_folder(scratch)
    command = [sys.executable, "-c", SUPERVISOR, str(workspace), isolation, state]
    supervisor = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ})
    assert supervisor.stdout is not None
    keeper, mark = supervisor.stdout.readline().split()
    namespace = Namespace(int(keeper)) if isolation == "bubblewrap" else None
    beat = workspace / "beat"
    deadline = time.monotonic() + 30
    while state != "frozen" and not beat.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert alive(namespace, mark)
    if state == "deaf":  # words that it never reads turn the end of its socket into an error
        supervisor.send_signal(signal.SIGSTOP)
        (workspace / "leave").touch()
        while not (workspace / "left").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.3)
    supervisor.send_signal(signal.SIGKILL)
    supervisor.wait()
    supervisor.stdout.close()
    deadline = time.monotonic() + 5
    while (left := alive(namespace, mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == [], "processes outlive their supervisor"
    size = beat.stat().st_size if beat.exists() else 0
    time.sleep(0.3)
    assert (beat.stat().st_size if beat.exists() else 0) == size


def alive(namespace: Namespace | None, mark: str) -> list[int]:
    from mldevbench.sandbox.process import marked

    return namespace.members() if namespace is not None else list(marked(mark))
