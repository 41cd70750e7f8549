"""A process of ours ends with its node's raylet, also if nobody buries that; Ray's own look is deceived by a zombie."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

ACTOR = """
import time
from cluster.raylet import end_with_raylet
print("up", flush=True)
end_with_raylet()
time.sleep(60)
"""


@pytest.fixture
def raylet() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def actor(raylet: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "RAY_RAYLET_PID": str(raylet)}
    return subprocess.Popen([sys.executable, "-c", ACTOR], env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("dies_first", [True, False])
def test_an_actor_ends_with_its_raylet_though_it_stays_a_zombie(
    raylet: subprocess.Popen[bytes], dies_first: bool
) -> None:
    if dies_first:
        raylet.kill()
    with actor(raylet.pid) as process:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        if not dies_first:
            assert process.poll() is None
            raylet.kill()
        assert process.wait(20) == 1


def test_an_actor_that_cannot_see_its_raylet_stays(raylet: subprocess.Popen[bytes]) -> None:
    raylet.kill()
    raylet.wait()
    with actor(raylet.pid) as process:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2)
        process.kill()
