"""Warm calls: as right as fresh ones, and at least ten times as fast where torch is needed."""

from __future__ import annotations

import statistics
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest
from judge.support import Submit, write

from mldevbench.checks import Room
from mldevbench.room import RoomSettings
from mldevbench.submission import Submission

FORWARD = """
import torch
import network
def probe(inputs):
    model = network.make()
    model.load_state_dict(torch.load("model.pt", weights_only=True))
    with torch.no_grad():
        return {"outputs": model(torch.from_numpy(inputs["inputs"]))}
"""
NETWORK = "import torch\ndef make(): return torch.nn.Linear(4, 3)\n"


@pytest.fixture
def trained(workspace: Path, submit: Submit, warm_settings: RoomSettings) -> Submission:
    torch = pytest.importorskip("torch")
    if warm_settings.isolation != "bubblewrap":
        pytest.skip("warm calls need bubblewrap")
    torch.save({"weight": torch.ones(3, 4), "bias": torch.arange(3.0)}, workspace / "model.pt")
    write(workspace, network=NETWORK)
    return submit()


def median_seconds(room: Room, times: int) -> float:
    inputs = np.ones((5, 4), np.float32)
    spent = []
    for _ in range(times):
        began = perf_counter()
        weights = room.load_weights("model.pt")
        answer = room.call(FORWARD, {"inputs": inputs})
        spent.append(perf_counter() - began)
        expected = inputs @ weights["weight"].T + weights["bias"]
        np.testing.assert_allclose(answer["outputs"], expected, rtol=1e-6)
    return statistics.median(spent)


@pytest.mark.slow
@pytest.mark.crowd
def test_validating_a_checkpoint_warm_is_ten_times_as_fast(trained: Submission, warm_settings: RoomSettings) -> None:
    cold_settings = replace(warm_settings, warm=False)
    with Room(trained) as warm, Room(trained, settings=cold_settings) as cold:
        median_seconds(warm, 1)  # starts the zygote; whatever disk cache there is, both sides then have it
        median_seconds(cold, 1)
        warm_seconds, cold_seconds = median_seconds(warm, 9), median_seconds(cold, 3)
    print(f"warm {warm_seconds * 1000:.0f} ms, fresh {cold_seconds * 1000:.0f} ms, {cold_seconds / warm_seconds:.0f}×")
    assert cold_seconds >= 10 * warm_seconds


@pytest.mark.slow
def test_warm_calls_draw_other_numbers_each_time(trained: Submission, warm_settings: RoomSettings) -> None:
    probe = "import torch\ndef probe(inputs):\n    return {'drawn': torch.rand(4)}"
    with Room(trained) as room:
        drawn = {tuple(room.call(probe, {})["drawn"].tolist()) for _ in range(3)}
    assert len(drawn) == 3


# The token is given in two halves, so that looking for it doesn't put it there.
ALLOWED = {
    "CUDA_VISIBLE_DEVICES",
    "HOME",
    "LANG",
    "OMP_NUM_THREADS",
    "PATH",
    "PYTHONDONTWRITEBYTECODE",
    "TERM",
    "TMPDIR",
}
LOOK = r"""
import torch, os, re
def probe(inputs):
    first, second = inputs["first"].encode(), inputs["second"].encode()
    found = 0
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            start, end, mode = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            if "r" not in mode or "[v" in line:
                continue
            try:
                memory.seek(int(start, 16))
                data = memory.read(int(end, 16) - int(start, 16))
            except (OSError, OverflowError, ValueError):
                continue
            place = data.find(first)
            while place >= 0:
                found += data[place + len(first) : place + len(first) + len(second)] == second
                place = data.find(first, place + 1)
    return {"found": found, "environ": sorted(os.environ)}
"""


@pytest.mark.slow
def test_a_warm_call_sees_neither_earlier_calls_nor_us(trained: Submission, warm_settings: RoomSettings) -> None:
    halves = {"first": "only the first call was", "second": " given this token"}
    token = "".join(halves.values())
    with Room(trained) as room:
        assert room.call(LOOK, {**halves, "token": token})["found"] >= 1, "the search finds what is there"
        answer = room.call(LOOK, halves)
    assert answer["found"] == 0
    assert set(answer["environ"]) <= ALLOWED
