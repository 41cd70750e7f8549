"""Training pictures, the sizes of the model, and a checkpoint to start from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.cifar_split import (
    class_order,
    names_of,
    real_names,
    real_training_pictures,
    reordered,
    write_training_batches,
)
from mldevbench.material.shapes import draw_pictures

CHECKPOINT = "checkpoints/baseline.safetensors"
HEAD = ("head.weight", "head.bias")


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> dict[str, str]:
    order = class_order(draw, 10)
    if profile["source"] == "cifar10":
        pictures, names = real_training_pictures(profile), real_names(profile)
        (destination / CHECKPOINT).unlink()
        given = "There is no checkpoint to start from."
    else:
        pictures, names = draw_pictures(draw.rng("pictures"), profile["train"]), None
        renumber_head(destination / CHECKPOINT, order)
        given = f"`{CHECKPOINT}` is what it gave; you may start from it or anew."
    write_training_batches(
        destination / "data", reordered(pictures, order), names_of(order, names) if names else names_of(order)
    )
    sizes = {"widths": profile["widths"], "pool": profile["pool"]}
    (destination / "model.json").write_text(json.dumps(sizes) + "\n", encoding="utf-8")
    return {"given": given}


def renumber_head(path: Path, order: np.ndarray) -> None:
    """Give the checkpoint's outputs the numbers that the classes have in this instance."""
    from safetensors.numpy import load_file, save_file

    weights = load_file(path)
    for name in HEAD:
        weights[name] = np.ascontiguousarray(weights[name][np.argsort(order)])
    save_file(weights, path)
