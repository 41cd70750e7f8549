# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Count what the checkpoint holds, let the model score pictures drawn now in a room, compare outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.checks import Room, at_most, beats, metric, predict, require, small_code, within_capacity
from mldevbench.draw import Draw
from mldevbench.material.cifar100 import real_fine_names, real_pictures, renumbered
from mldevbench.material.cifar_split import class_order
from mldevbench.material.textured import FINE_NAMES, FinePictures, draw_textured
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

CODE, WEIGHTS = "utils.py", "best_checkpoint/weights.safetensors"
PROBE = Path(__file__).parent / "hidden" / "probe.py"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield from small_code(submission, [CODE], profile["max_code_kb"])
    yield from within_capacity(submission, WEIGHTS, profile["max_parameters"])
    limit = 4 * profile["max_parameters"] + 1000 * profile["max_code_kb"]  # names and metadata hide no second model
    yield at_most(f"bytes of {WEIGHTS}", submission.files[WEIGHTS].size, limit)
    unseen, classes = _unseen(draw, profile)
    with Room(submission, files=[CODE, WEIGHTS]) as room:
        scores = predict(room, PROBE, unseen.images, draw=draw, seconds=profile["seconds"], tolerance=0.02)
    fits = scores.ndim == 2 and scores.shape[1] == classes and scores.dtype.kind == "f"
    yield require("scores", fits, f"{classes} scores for each picture", f"{scores.dtype} of shape {scores.shape}")
    yield require("values of the scores", bool(np.isfinite(scores).all()), "finite scores", "NaN or infinity")
    found = float((scores.argmax(1) == unseen.fine).mean())
    yield metric("accuracy", found)
    yield beats("accuracy on unseen pictures", found, profile["min_accuracy"])


def _unseen(draw: Draw, profile: Mapping[str, Any]) -> tuple[FinePictures, int]:
    """Return pictures that were never in the workspace, and how many classes there are."""
    if profile["source"] == "cifar100":
        pictures, classes = real_pictures(profile, "test"), len(real_fine_names(profile)[0])
    else:
        rng = draw.rng("held-out pictures")
        pictures, classes = draw_textured(rng, profile["held_out"], noise=profile["noise"]), len(FINE_NAMES)
    return renumbered(pictures, class_order(draw, classes)), classes
