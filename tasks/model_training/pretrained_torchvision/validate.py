# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare every tensor with the published one, and the scores with those of the published weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, check, close, equal, read_json, read_npy, require
from mldevbench.draw import Draw
from mldevbench.material.resnet18 import Weights, forward, parameter_count
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

DATA = Path(__file__).parent / "data.py"
INFO, MODEL, LOGITS = "model_info.json", "resnet18.pt", "logits.npy"
COUNTER = ".num_batches_tracked"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    given = plugin.load(DATA)
    info = read_json(submission, INFO)
    yield require(INFO, isinstance(info, dict), "an object", type(info).__name__)
    logits = read_npy(submission, LOGITS, dtype="float32", max_mb=1)
    right, side = given.weights(draw, profile), given.card(draw, profile).side
    yield from _described(info, right, side)
    with Room(submission, files=[MODEL], max_mb=60) as room:
        made = room.load_weights(MODEL, max_mb=120)
    # Old files of torchvision have no counters; a network that has loaded one adds them.
    made = {name: value for name, value in made.items() if name in right or not name.endswith(COUNTER)}
    yield require("tensors", made.keys() == right.keys(), f"the {len(right)} published ones", _odd(made, right))
    wrong = [name for name, value in right.items() if not _same(made[name], value)]
    yield check(
        "values of the tensors", not wrong, "exactly the published ones", f"other: {', '.join(wrong[:4]) or 'none'}"
    )
    scores = forward(right, given.picture(draw, profile)[None])[0]
    scale = float(np.abs(scores).max())
    yield close(LOGITS, logits / np.float32(scale), scores / scale, tolerance=profile["tolerance"])


def _described(info: Mapping[str, Any], right: Weights, side: int) -> Iterator[Check]:
    about = info.get("architecture")
    yield require("architecture", isinstance(about, dict), "an object", type(about).__name__)
    assert isinstance(about, dict)
    yield equal("model_name", info.get("model_name"), "resnet18")
    yield equal("model_path", info.get("model_path"), MODEL)
    yield equal("input_shape", about.get("input_shape"), [3, side, side], show_expected=False)
    yield equal("num_parameters", about.get("num_parameters"), parameter_count(right), show_expected=False)


def _odd(made: Weights, right: Weights) -> str:
    return f"{len(made)} tensors; {', '.join(sorted(made.keys() ^ right.keys())[:4]) or 'none'} differ"


def _same(seen: np.ndarray, right: np.ndarray) -> bool:
    if right.ndim == 0 and seen.shape == (1,):  # on its way out of the room a scalar becomes an array of one
        seen = seen.reshape(())
    return seen.shape == right.shape and seen.dtype == right.dtype and bool(np.array_equal(seen, right))
