# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Count what the checkpoint holds, let the model score pictures drawn now in a room, take the mean over classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, at_most, beats, metric, predict, require, small_code, within_capacity
from mldevbench.draw import Draw
from mldevbench.material.cifar_split import class_order, real_test_pictures, reordered
from mldevbench.material.shapes import NAMES, Pictures
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

CODE, WEIGHTS = "utils.py", "checkpoints/best.safetensors"
HERE = Path(__file__).parent
PROBE = HERE / "hidden" / "probe.py"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield from small_code(submission, [CODE], profile["max_code_kb"])
    yield from within_capacity(submission, WEIGHTS, profile["max_parameters"])
    limit = 4 * profile["max_parameters"] + 1000 * profile["max_code_kb"]  # names and metadata hide no second model
    yield at_most(f"bytes of {WEIGHTS}", submission.files[WEIGHTS].size, limit)
    unseen = _unseen(draw, profile)
    with Room(submission, files=[CODE, WEIGHTS]) as room:
        scores = predict(room, PROBE, unseen.images, draw=draw, seconds=profile["seconds"], tolerance=0.02)
    fits = scores.ndim == 2 and scores.shape[1] == 10 and scores.dtype.kind == "f"
    yield require("scores", fits, "10 scores for each picture", f"{scores.dtype} of shape {scores.shape}")
    yield require("values of the scores", bool(np.isfinite(scores).all()), "finite scores", "NaN or infinity")
    right = scores.argmax(1) == unseen.labels
    found = 100 * float(np.mean([right[unseen.labels == label].mean() for label in range(10)]))
    yield metric("balanced_accuracy", found)
    yield metric("accuracy", 100 * float(right.mean()))
    yield beats("balanced accuracy on unseen pictures, in per cent", found, profile["min_balanced_accuracy"])


def _unseen(draw: Draw, profile: Mapping[str, Any]) -> Pictures:
    if profile["source"] == "cifar10":
        pictures = real_test_pictures(profile)
    else:
        rng = draw.rng("held-out pictures")
        labels = rng.integers(0, len(NAMES), profile["held_out"])
        pictures = plugin.load(HERE / "data.py").overlapping(rng, labels, profile)
    return reordered(pictures, class_order(draw, 10))
