# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Repeat the two steps from the submitted initial weights and batches; compare weights and losses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from mldevbench import plugin
from mldevbench.checks import (
    at_least,
    at_most,
    check,
    close,
    equal,
    metric,
    number,
    read_json,
    read_safetensors,
    require,
)
from mldevbench.draw import Draw
from mldevbench.material.tiny_vit import Weights, forward
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

DATA = Path(__file__).parent / "data.py"
INFO, CLASSES = "model_info.json", 10
INITIAL, FINAL = "initial_model/model.safetensors", "final_model/model.safetensors"
LEAST_INITIAL_LOSS = 0.5
Tensors = dict[str, torch.Tensor]


class Batch(NamedTuple):
    pixels: torch.Tensor
    labels: torch.Tensor


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    given = plugin.load(DATA)
    hub = given.hub_model(draw)
    info = _object(INFO, read_json(submission, INFO))
    pictures = given.first_batch(draw, profile)
    rows = _rows(info.get("batches"), profile["size"], len(pictures.labels))
    initial, final = (_model(submission, path, hub.weights) for path in (INITIAL, FINAL))
    for name, value in hub.weights.items():
        if not name.startswith("classifier."):
            made = close(f"{name} of the initial model", initial[name], value, tolerance=1e-6)
            yield require(made.name, made.passed, "as the hub has it", made.seen)
    yield from _described(info, hub.name, sum(value.size for value in initial.values()), profile["max_parameters"])
    batches = [_batch(pictures, part, hub) for part in rows]
    right = _trained(initial, batches, hub.config, profile["rate"])
    yield from _close_to(final, initial, right, profile["weight_tolerance"])
    training = _object("training", info.get("training"))
    losses = [_loss(_tensors(weights), batches[0], hub.config).item() for weights in (initial, final)]
    for name, loss in zip(("initial_loss", "final_loss"), losses, strict=True):
        told = number(training.get(name), name)
        yield close(name, told, loss, tolerance=profile["loss_tolerance"])
    yield at_least("loss before training", losses[0], LEAST_INITIAL_LOSS)
    yield metric("fall of the loss", losses[0] - losses[1])


def _object(name: str, value: Any) -> dict[str, Any]:
    require(name, isinstance(value, dict), "an object", type(value).__name__)
    return value


def _rows(batches: Any, size: int, count: int) -> list[list[int]]:
    """Return the rows of both batches, having refused what can't be."""
    fits = isinstance(batches, list) and len(batches) == 2 and all(isinstance(part, list) for part in batches)
    require("batches", fits, "two lists of row numbers", str(batches)[:100])
    flat = [row for part in batches for row in part]
    known = all(type(row) is int and 0 <= row < count for row in flat)
    sizes = [len(part) for part in batches] == [size, size]
    require("batches", known and sizes and len(set(flat)) == 2 * size, f"2 × {size} different rows", str(batches)[:100])
    return batches


def _model(submission: Submission, path: str, hub: Weights) -> Weights:
    """Return submitted weights that have the hub's names and shapes, but for the number of classes."""
    made = read_safetensors(submission, path, max_mb=10)
    require(
        f"tensors of {path}", made.keys() == hub.keys(), "the hub's names", str(sorted(made.keys() ^ hub.keys())[:5])
    )
    for name, value in hub.items():
        shape = (CLASSES, *value.shape[1:]) if name.startswith("classifier.") else value.shape
        fits = made[name].shape == shape and made[name].dtype == np.float32
        require(f"{name} of {path}", fits, f"float32 {shape}", f"{made[name].dtype} {made[name].shape}")
        require(f"{name} of {path}", bool(np.isfinite(made[name]).all()), "finite values", "NaN or infinity")
    return made


def _described(info: Mapping[str, Any], name: str, size: int, most: int) -> Iterator[Check]:
    model, architecture = _object("model", info.get("model")), _object("architecture", info.get("architecture"))
    yield equal("model.name", model.get("name"), name)
    yield equal("model.source", model.get("source"), "huggingface")
    yield equal("model.parameters", model.get("parameters"), size, show_expected=False)
    yield check("number of parameters", size < most, f"fewer than {most}", f"{size}")
    yield equal("architecture.output_size", architecture.get("output_size"), CLASSES)
    yield equal("model_path", info.get("model_path"), "final_model")


def _batch(pictures: Any, rows: list[int], hub: Any) -> Batch:
    mean, std = (np.asarray(values, np.float32)[:, None, None] for values in (hub.mean, hub.std))
    pixels = (pictures.images[rows].astype(np.float32) / 255 - mean) / std
    return Batch(torch.from_numpy(pixels), torch.from_numpy(pictures.labels[rows]).long())


def _tensors(weights: Weights) -> Tensors:
    return {name: torch.from_numpy(value.copy()) for name, value in weights.items()}


def _loss(weights: Tensors, batch: Batch, config: Mapping[str, Any]) -> torch.Tensor:
    return functional.cross_entropy(forward(weights, config, batch.pixels), batch.labels)


def _trained(initial: Weights, batches: list[Batch], config: Mapping[str, Any], rate: float) -> Weights:
    weights = {name: value.requires_grad_() for name, value in _tensors(initial).items()}
    optimizer = torch.optim.SGD(weights.values(), lr=rate)
    for batch in batches:
        optimizer.zero_grad()
        _loss(weights, batch, config).backward()
        optimizer.step()
    return {name: value.detach().numpy() for name, value in weights.items()}


def _close_to(final: Weights, initial: Weights, right: Weights, tolerance: float) -> Iterator[Check | Metric]:
    gap = {name: float(np.abs(final[name] - value).max()) for name, value in right.items()}
    worst = max(gap, key=lambda name: gap[name])
    yield at_most(f"largest error of the final model (in {worst})", gap[worst], tolerance)
    yield metric("largest error", gap[worst])
    yield metric("largest change", max(float(np.abs(right[name] - initial[name]).max()) for name in right))
