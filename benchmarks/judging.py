"""Validating a checkpoint: warm, from a process that has torch already, against a fresh one that imports it."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from figure import Figure

from mldevbench import task_venv
from mldevbench.checks import Room
from mldevbench.room import RoomSettings
from mldevbench.sandbox.opening import choose
from mldevbench.submission import Submission, collect, open_submission

GROUP = "Validation"
NETWORK = "import torch\ndef make(): return torch.nn.Linear(4, 3)\n"
FORWARD = """
import torch
import network
def probe(inputs):
    model = network.make()
    model.load_state_dict(torch.load("model.pt", weights_only=True))
    with torch.no_grad():
        return {"outputs": model(torch.from_numpy(inputs["inputs"]))}
"""


def measure() -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        settings = RoomSettings(choose("auto", trusted=True), task_venv.path(), folder / "rooms")
        submission = trained(folder)
        warm = seconds(submission, settings, 9)
        fresh = seconds(submission, replace(settings, warm=False), 3)
    finally:
        shutil.rmtree(folder)
    yield Figure(GROUP, "a checkpoint, warm", 1000 * warm, "ms")
    yield Figure(GROUP, "a checkpoint, in a fresh process", 1000 * fresh, "ms")
    yield Figure(GROUP, "warm against fresh", fresh / warm, "×", "≥ 10", fresh >= 10 * warm)


def trained(folder: Path) -> Submission:
    """Return a submission with a network and its weights."""
    import torch

    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "network.py").write_text(NETWORK, "utf-8")
    torch.save({"weight": torch.ones(3, 4), "bias": torch.arange(3.0)}, workspace / "model.pt")
    manifest = collect(workspace, ["*"], 10, folder / "submission.tar")
    return open_submission(folder / "submission.tar", manifest.digest, folder / "opened")


def seconds(submission: Submission, settings: RoomSettings, times: int) -> float:
    took = []
    with Room(submission, settings=settings) as room:
        for _ in range(times + 1):
            began = time.perf_counter()
            room.load_weights("model.pt")
            room.call(FORWARD, {"inputs": np.ones((5, 4), np.float32)})
            took.append(time.perf_counter() - began)
    return statistics.median(took[1:])  # the first starts what stays warm
