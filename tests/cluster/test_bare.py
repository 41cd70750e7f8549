"""An embedded Ray has what runs actors and nothing else, and leaves nobody behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest

from cluster.bare import STAND_IN
from cluster.session import session

SCRIPT = """
import json, sys
from cluster.session import session
with session("local"):
    import ray, psutil
    answer = ray.get(ray.remote(lambda: 41 + 1).remote())
    family = {one.pid: one.cmdline()[0] for one in psutil.Process().children(recursive=True)}
    print(json.dumps([answer, family]), flush=True, file=sys.__stdout__)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_agents_are_spared_and_their_stand_ins_end_with_a_killed_driver(clean_environment: None) -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdin=PIPE, stdout=PIPE, text=True) as driver:
        assert driver.stdout
        answer, family = json.loads(driver.stdout.readline())
        os.kill(driver.pid, signal.SIGKILL)
    names = sorted(Path(name).name for name in family.values())
    assert answer == 42
    assert {"gcs_server", "raylet"} <= set(names) and names.count(STAND_IN) == 2, names
    assert not [name for name in names if name.endswith("Agent") or "dashboard" in name]
    deadline = time.monotonic() + 30
    while left := [pid for pid in family if Path("/proc", pid).exists()]:
        assert time.monotonic() < deadline, [family[pid] for pid in left]
        time.sleep(0.1)


@pytest.mark.parametrize("name", ["RAY_JOB_CONFIG_JSON_ENV_VAR", "RAY_RUNTIME_ENV_HOOK"])
def test_who_has_a_runtime_environment_gets_the_agent_that_makes_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray._private.node import Node

    whole, seen = Node.start_api_server, []
    monkeypatch.setattr("os.environ", {**os.environ, name: "{}"})
    monkeypatch.setattr("ray.init", lambda **_: seen.append(Node.start_api_server is whole))
    monkeypatch.setattr("ray.shutdown", lambda: None)
    with session("local"):
        pass
    assert seen == [True]
