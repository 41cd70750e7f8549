# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Evaluate all four checkpoints in the pristine network: reports on visible pictures, the threshold on unseen ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import load_file
from torch.nn import functional

from mldevbench import plugin
from mldevbench.checks import (
    Room,
    all_finite,
    at_least,
    at_most,
    check,
    equal,
    metric,
    number,
    read_csv,
    read_json,
    require,
    whole,
)
from mldevbench.draw import Draw
from mldevbench.material.noisy_set import NoisySet, draw_noisy_set, held_out
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

GIVEN = Path(__file__).parent / "workspace"
TABLE, METRICS = "dataset/noisy_labels_50.csv", "training_metrics.json"
CHECKPOINTS = [f"checkpoints/epoch_{epoch}.pt" for epoch in range(1, 5)]
Weights = dict[str, np.ndarray]


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    given = draw_noisy_set(draw, profile)
    yield from _table(submission, given)
    reported = _reported(submission)
    found = submission.matching("checkpoints/**")
    yield require(
        "files in checkpoints", found == CHECKPOINTS, f"{len(CHECKPOINTS)} named files only", str(found)[:200]
    )
    weights = _loaded(submission)
    scores = [_scores(one, given.val.images) for one in weights]
    seen = [100 * float((one.argmax(1) == given.val.labels).mean()) for one in scores]
    for epoch, (told, right) in enumerate(zip(reported["val_acc"], seen, strict=True), start=1):
        made = at_most(f"gap of val_acc in epoch {epoch}", abs(told - right), profile["max_gap"])
        yield require(made.name, made.passed, made.expected, made.seen)
    best = reported["best_epoch"]
    unseen = held_out(draw, profile)
    accuracy = 100 * float((_scores(weights[best - 1], unseen.images).argmax(1) == unseen.labels).mean())
    yield metric("accuracy", accuracy)
    yield equal("best_val_acc", reported["best_val_acc"], max(reported["val_acc"]))
    yield equal("best_epoch", best, 1 + reported["val_acc"].index(max(reported["val_acc"])))
    yield at_least("accuracy on unseen pictures, per cent", accuracy, profile["min_accuracy"])
    optimism = reported["best_val_acc"] - accuracy
    yield at_most("best_val_acc above the accuracy on unseen pictures", optimism, profile["max_optimism"])
    yield from _trained(weights, given, profile)


def _table(submission: Submission, given: NoisySet) -> Iterator[Check]:
    right = dict(zip(given.names[: len(given.train.labels)], map(str, given.noisy[50].tolist()), strict=True))
    rows = read_csv(submission, TABLE, ["path", "label"], max_rows=2 * len(right))
    found = {row["path"]: row["label"].strip() for row in rows}
    whole_table = len(rows) == len(right) == len(found) and found.keys() == right.keys()
    yield require(f"paths in {TABLE}", whole_table, f"the {len(right)} training pictures, once", f"{len(rows)} rows")
    wrong = sum(found[path] != label for path, label in right.items())
    yield check(f"labels in {TABLE}", not wrong, "labels of noisy_labels_50", f"{wrong} of {len(right)} differ")


def _reported(submission: Submission) -> dict[str, Any]:
    metrics = read_json(submission, METRICS)
    require(METRICS, isinstance(metrics, dict), "an object", type(metrics).__name__)
    values = metrics.get("val_acc")
    fits = isinstance(values, list) and len(values) == len(CHECKPOINTS)
    require("val_acc", fits, "a list of four numbers", str(values)[:200])
    return {
        "val_acc": [number(value, "val_acc", 0, 100) for value in values or []],
        "best_val_acc": number(metrics.get("best_val_acc"), "best_val_acc", 0, 100),
        "best_epoch": whole(metrics.get("best_epoch"), "best_epoch", 1, len(CHECKPOINTS)),
    }


def _loaded(submission: Submission) -> list[Weights]:
    """Return the tensors of each checkpoint, which have the names, shapes and kinds of the pristine network."""
    right = {name: value.numpy() for name, value in _network().state_dict().items()}
    loaded = []
    with Room(submission, files=["checkpoints/**"]) as room:
        for path in CHECKPOINTS:
            weights = {name: _scalar(value, right.get(name)) for name, value in room.load_weights(path).items()}
            require(f"tensors of {path}", weights.keys() == right.keys(), "those of Classifier", _odd(weights, right))
            for name, value in right.items():
                same = weights[name].shape == value.shape and weights[name].dtype == value.dtype
                seen = f"{weights[name].dtype} {weights[name].shape}"
                require(f"{name} of {path}", same, f"{value.dtype} {value.shape}", seen)
            finite = all_finite(f"values of {path}", weights)
            require(finite.name, finite.passed, finite.expected, finite.seen)
            loaded.append(weights)
    return loaded


def _scalar(value: np.ndarray, right: np.ndarray | None) -> np.ndarray:
    """Return a counter as it was: on its way out of the room a scalar becomes an array of one."""
    return value.reshape(()) if right is not None and right.ndim == 0 and value.shape == (1,) else value


def _odd(weights: Weights, right: Weights) -> str:
    return f"differ: {sorted(weights.keys() ^ right.keys())[:5]}"


def _network() -> torch.nn.Module:
    return plugin.load(GIVEN / "model.py").Classifier().eval()


def _scores(weights: Weights, images: np.ndarray) -> np.ndarray:
    network = _network()
    network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})
    with torch.no_grad():
        parts = [network(part.float() / 255) for part in torch.from_numpy(images).split(500)]
    return torch.cat(parts).double().numpy()


def _trained(weights: list[Weights], given: NoisySet, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    """Ask whether these are four states of one training that began with the pretrained backbone."""
    kinds = {
        b"".join(value.tobytes() for name, value in sorted(one.items()) if value.dtype.kind == "f") for one in weights
    }
    yield check(
        "checkpoints that differ", len(kinds) == len(weights), f"{len(weights)} different ones", str(len(kinds))
    )
    labels = torch.from_numpy(given.noisy[50])
    first, last = (
        float(functional.cross_entropy(torch.from_numpy(_scores(one, given.train.images)), labels))
        for one in (weights[0], weights[-1])
    )
    yield at_least("drop of the training loss from first to last checkpoint", first - last, profile["min_drop"])
    origin = load_file(GIVEN / "pretrained" / "weights.safetensors")["third.0.weight"].ravel()
    cosines = [_cosine(one["backbone.third.0.weight"].ravel(), origin) for one in weights]
    yield at_least("cosine to the pretrained backbone", min(cosines), profile["min_cosine"])
    yield metric("drop of the training loss", first - last)
    yield metric("cosine", min(cosines))


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-12))
