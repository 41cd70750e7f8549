# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Put submitted tensors into the given network; compare its masks of scenes drawn now with the true ones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.checks import Room, all_finite, beats, metric, predict, read_safetensors, require
from mldevbench.draw import Draw
from mldevbench.material import voc
from mldevbench.material.scenes import CLASSES, KINDS, draw_camera, draw_scenes, shoot
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
WEIGHTS = "model.safetensors"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(WEIGHTS, submission.has(WEIGHTS), f"a file {WEIGHTS}", submission.why_not(WEIGHTS))
    tensors = read_safetensors(submission, WEIGHTS, profile["max_mb"])
    classes = voc.CLASSES if profile["source"] == "voc" else CLASSES
    model = json.dumps({"model_name": profile["model_name"], "num_classes": classes}).encode()
    files = {"fcn.py": HERE / "workspace" / "fcn.py", "model.json": model}
    with Room(submission, files=[], add=files) as room:
        shapes = room.call(HERE / "hidden" / "shapes.py", {}, seconds=profile["seconds"])
    yield from _fits(tensors, shapes)
    yield all_finite("finite weights", tensors)
    pictures, masks = _held_out(draw, profile)
    with Room(submission, files=[WEIGHTS], add=files, max_mb=profile["max_mb"]) as room:
        probe = HERE / "hidden" / "probe.py"
        made = predict(room, probe, pictures, draw=draw, seconds=profile["seconds"], key="pictures", tolerance=0)
    yield require("masks", made.shape == masks.shape and made.dtype == np.uint8, "a class per pixel", f"{made.shape}")
    found = intersections_over_unions(made, masks, classes)
    yield metric("mean_iou", float(found.mean()))
    for kind, value in enumerate(found):
        yield metric(f"iou of class {kind}", float(value))
    yield beats("mean IoU on unseen pictures", float(found.mean()), profile["min_mean_iou"])


def _fits(tensors: Mapping[str, np.ndarray], shapes: Mapping[str, Any]) -> Iterator[Check]:
    """Demand exactly the tensors of the network: more would be another network, fewer none."""
    odd = sorted(tensors.keys() ^ shapes.keys())
    yield require("tensors", not odd, f"the {len(shapes)} tensors of the network", f"others: {', '.join(odd[:4])}")
    for name, shape in shapes.items():
        seen = tensors[name]
        fits = list(seen.shape) == list(shape) and seen.dtype.kind in "fi"
        yield require(name, fits, f"numbers of shape {tuple(shape)}", f"{seen.dtype} of shape {seen.shape}")


def _held_out(draw: Draw, profile: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    if profile["source"] == "voc":
        return voc.held_out(draw, profile)
    order = draw.rng("class order").permutation(len(KINDS))
    camera, rng = draw_camera(draw.rng("second camera")), draw.rng("held-out scenes")
    scenes = draw_scenes(rng, profile["held_out"], order)
    return shoot(rng, scenes.light, camera), scenes.masks


def intersections_over_unions(made: np.ndarray, masks: np.ndarray, classes: int) -> np.ndarray:
    """Return one value per class over all pixels together; void pixels (255) count nowhere."""
    real = masks != 255
    pairs = masks[real].astype(np.int64) * classes + np.minimum(made[real], classes - 1)
    table = np.bincount(pairs, minlength=classes * classes).reshape(classes, classes)
    both = np.diag(table)
    return both / np.maximum(table.sum(0) + table.sum(1) - both, 1)
