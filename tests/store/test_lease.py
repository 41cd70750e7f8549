"""The lease: a living driver keeps its study, a dead one loses it at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mldevbench.errors import UserError
from mldevbench.store.lease import Lease, running
from mldevbench.store.place import open_place

TAKE = """
import sys, time
from mldevbench.store.lease import Lease
from mldevbench.store.place import open_place
lease = Lease(open_place(sys.argv[1]))
lease.take()
print("taken", flush=True)
time.sleep(600)
"""


def test_a_lease_is_taken_renewed_and_released(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    now = [0.0]
    lease = Lease(place, clock=lambda: now[0])
    lease.take()
    assert running(place) is not None
    now[0] = 6.0
    assert lease.renew()
    assert json.loads(place.read("lease.json"))["counter"] == 1
    lease.release()
    assert running(place) is None


def test_a_killed_driver_loses_its_study_at_once(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", TAKE, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout and process.stdout.readline() == b"taken\n"
    process.kill()
    process.wait()
    process.stdout.close()
    slept: list[float] = []
    Lease(place).take(sleep=slept.append)
    assert slept == []


def test_a_driver_elsewhere_is_watched_and_refused_while_its_counter_moves(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    holder = {"token": "t", "host": "elsewhere", "boot": "b", "pid": 7, "started": "1", "counter": 1}
    place.write("lease.json", json.dumps(holder).encode())

    def tick(seconds: float) -> None:
        holder["counter"] += 1
        place.write("lease.json", json.dumps(holder).encode())

    with pytest.raises(UserError, match="is being run by process 7 on elsewhere"):
        Lease(place).take(sleep=tick)


def test_a_driver_elsewhere_whose_counter_stands_still_is_replaced(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    holder = {"token": "t", "host": "elsewhere", "boot": "b", "pid": 7, "started": "1", "counter": 1}
    place.write("lease.json", json.dumps(holder).encode())
    now = [0.0]

    def pass_time(seconds: float) -> None:
        now[0] += seconds

    lease = Lease(place, clock=lambda: now[0])
    lease.take(sleep=pass_time)
    assert now[0] >= 20 and json.loads(place.read("lease.json"))["token"] == lease.mine.token


def test_a_driver_notices_that_another_took_over(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    now = [0.0]
    lease = Lease(place, clock=lambda: now[0])
    lease.take()
    place.write("lease.json", json.dumps({**json.loads(place.read("lease.json")), "token": "other"}).encode())
    now[0] = 6.0
    assert not lease.renew()
