# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Read the checkpoint in a room, put its tensors into the given classifier, score it on pictures drawn now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.checks import Room, beats, metric, predict, require
from mldevbench.draw import Draw
from mldevbench.material.cifar_split import class_order, real_test_pictures, reordered
from mldevbench.material.shapes import Pictures, draw_pictures
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
CHECKPOINT = "checkpoints/best.pt"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    with Room(submission, files=[CHECKPOINT], max_mb=profile["max_mb"]) as room:
        tensors = room.load_weights(CHECKPOINT, profile["seconds"], max_mb=4 * profile["max_mb"])
    yield from _fits(tensors, _shapes(profile))
    unseen = _unseen(draw, profile)
    sizes = {"widths": profile["widths"], "pool": profile["pool"]}
    files = {name: HERE / "workspace" / name for name in ("model.py", "pictures.py")}
    given = {f"tensor {name}": value.astype(np.float32) for name, value in tensors.items()}
    with Room(submission, files=[], add={**files, "model.json": json.dumps(sizes).encode()}) as room:
        probe = HERE / "hidden" / "probe.py"
        scores = predict(room, probe, unseen.images, draw=draw, seconds=profile["seconds"], extra=given, tolerance=0.02)
    yield require("scores", bool(np.isfinite(scores).all()), "finite scores", "NaN or infinity")
    found = float((scores.argmax(1) == unseen.labels).mean())
    yield metric("accuracy", found)
    yield beats("accuracy on unseen pictures", found, profile["min_accuracy"])


def _unseen(draw: Draw, profile: Mapping[str, Any]) -> Pictures:
    real = profile["source"] == "cifar10"
    pictures = (
        real_test_pictures(profile) if real else draw_pictures(draw.rng("held-out pictures"), profile["held_out"])
    )
    return reordered(pictures, class_order(draw, 10))


def _shapes(profile: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return what the given classifier is made of."""
    made: dict[str, tuple[int, ...]] = {}
    channels, size = 3, 32 // profile["pool"]
    for place, width in enumerate(profile["widths"]):
        made[f"features.{3 * place}.weight"] = (width, channels, 3, 3)
        made[f"features.{3 * place}.bias"] = (width,)
        channels, size = width, size // 2
    return made | {"head.weight": (10, channels * size * size), "head.bias": (10,)}


def _fits(tensors: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Check]:
    """Demand exactly the classifier's tensors, all of them finite."""
    odd = sorted(tensors.keys() ^ shapes.keys())
    yield require("tensors", not odd, f"the {len(shapes)} tensors of the given model", f"others: {', '.join(odd[:4])}")
    for name, shape in shapes.items():
        seen = tensors[name]
        fits = seen.shape == shape and seen.dtype.kind == "f"
        yield require(name, fits, f"floats of shape {shape}", f"{seen.dtype} of shape {seen.shape}")
        with np.errstate(over="ignore"):
            finite = bool(np.isfinite(seen.astype(np.float32)).all())
        yield require(f"values of {name}", finite, "finite values", "NaN or infinity")
