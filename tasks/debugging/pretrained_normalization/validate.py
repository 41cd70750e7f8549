# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train again with another normalisation folded into the weights; recompute scores and history outside."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors.numpy import load_file, save
from torch.nn import functional

from mldevbench import plugin
from mldevbench.checks import Room, at_least, at_most, close, equal, metric, number, require, shards
from mldevbench.draw import Draw
from mldevbench.material.pretrained import Preprocessing, Weights, draw_preprocessing, folded
from mldevbench.material.shapes import Pictures, draw_pictures
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
SCRIPT, GIVEN = "train.py", HERE / "workspace"
FIELDS = {"train_loss": None, "val_loss": None, "train_acc": 100.0, "val_acc": 100.0}
HEAD = {"head.weight": (10, 64), "head.bias": (10,)}


class Case(NamedTuple):
    """What the script is run on, and the pictures that it is asked about."""

    wanted: Preprocessing
    weights: Weights
    train: Pictures
    val: Pictures
    unseen: Pictures


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(SCRIPT, submission.has(SCRIPT), f"a file {SCRIPT}", "none")
    case = _case(draw, profile)
    parts = shards(draw.rng("shards"), len(case.unseen.images), 4)
    inputs: dict[str, Any] = {f"images {place}": case.unseen.images[part] for place, part in enumerate(parts)}
    with Room(submission, files=[SCRIPT], add=_files(case)) as room:
        probe = HERE / "hidden" / "probe.py"
        answers = room.call(probe, {**inputs, "epochs": profile["epochs"]}, seconds=profile["seconds"])
    for name, right in case.weights.items():
        if right.ndim == 0:  # a counter that no score depends on
            continue
        made = close("backbone", answers.get(f"tensor backbone.{name}"), right, tolerance=1e-6)
        yield require(f"backbone.{name}", made.passed, "as delivered", made.seen)
    head = [_tensor(answers, name, shape) for name, shape in HEAD.items()]
    history = _history(answers, profile["epochs"])
    right = _scores(case, head, case.unseen)
    scale = float(np.abs(right).max())
    for place, part in enumerate(parts):
        seen: Any = answers.get(f"scores {place}")
        yield require("scores", isinstance(seen, np.ndarray), "an array", type(seen).__name__)
        yield close(f"scores of part {place}", seen / scale, right[part] / scale, tolerance=profile["tolerance"])
    found = float((right.argmax(1) == case.unseen.labels).mean())
    yield at_least("accuracy on unseen pictures", found, profile["min_accuracy"])
    yield from _last_row(history[-1], _scores(case, head, case.val), case.val.labels)
    yield equal("returned metrics", answers.get("returned"), answers.get("written"))
    yield metric("accuracy", found)


def _case(draw: Draw, profile: Mapping[str, Any]) -> Case:
    rng, given = draw.rng("held-out pictures"), draw_preprocessing(draw.rng("pictures"))
    while (wanted := draw_preprocessing(rng)).scale == given.scale:
        pass  # nothing of the given preprocessing may do here
    names = rng.permutation(10)
    weights = folded(load_file(GIVEN / "pretrained" / "weights.safetensors"), "first.0", wanted)
    drawn = [draw_pictures(rng, profile[name]) for name in ("train", "val", "held_out")]
    return Case(wanted, weights, *(Pictures(one.images, names[one.labels]) for one in drawn))


def _files(case: Case) -> dict[str, bytes | Path]:
    files: dict[str, bytes | Path] = {"backbone.py": GIVEN / "backbone.py"}
    files["weights/weights.safetensors"] = save(case.weights)
    files["weights/preprocessing.json"] = json.dumps(case.wanted._asdict()).encode()
    for split, pictures in (("train", case.train), ("val", case.val)):
        for kind, array in zip(("images", "labels"), pictures, strict=True):
            buffer = io.BytesIO()
            np.save(buffer, array)
            files[f"other/{split}_{kind}.npy"] = buffer.getvalue()
    return files


def _tensor(answers: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> np.ndarray:
    seen: Any = answers.get(f"tensor {name}")
    fits = isinstance(seen, np.ndarray) and seen.shape == shape and seen.dtype.kind == "f"
    require(name, fits, f"floats of shape {shape}", f"{getattr(seen, 'shape', type(seen).__name__)}")
    require(name, bool(np.isfinite(seen).all()), "finite values", "NaN or infinity")
    return np.array(seen, np.float32)


def _history(answers: Mapping[str, Any], epochs: int) -> list[dict[str, float]]:
    """Return the rows of the history, having refused what can't be."""
    metrics = answers.get("written")
    rows = metrics.get("history") if isinstance(metrics, dict) else None
    fits = isinstance(rows, list) and len(rows) == epochs and all(isinstance(row, dict) for row in rows)
    require("history", fits, f"a list of {epochs} objects", str(rows)[:200])
    for position, row in enumerate(rows or [], start=1):
        require("epoch", row.get("epoch") == position, f"epoch {position}", str(row.get("epoch"))[:50])
    return [{name: number(row.get(name), name, 0, high) for name, high in FIELDS.items()} for row in rows or []]


def _scores(case: Case, head: list[np.ndarray], pictures: Pictures) -> np.ndarray:
    """Return the scores of the delivered backbone and the submitted head for rightly prepared pictures."""
    backbone = plugin.load(GIVEN / "backbone.py").Backbone()
    backbone.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in case.weights.items()})
    backbone.eval()
    with torch.no_grad():
        features = torch.cat([backbone(part) for part in torch.from_numpy(case.wanted(pictures.images)).split(200)])
    return functional.linear(features, *(torch.from_numpy(array) for array in head)).double().numpy()


def _last_row(row: Mapping[str, float], scores: np.ndarray, labels: np.ndarray) -> Iterator[Check]:
    loss = float(functional.cross_entropy(torch.from_numpy(scores), torch.from_numpy(labels)))
    right = 100 * float((scores.argmax(1) == labels).mean())
    yield at_most("relative error of the last val_loss", abs(row["val_loss"] - loss) / loss, 0.01)
    yield at_most("error of the last val_acc", abs(row["val_acc"] - right), 100.01 / len(labels))
