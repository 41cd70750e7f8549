# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Put submitted tensors into the given model; compare its answers to questions drawn now with the true ones."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from mldevbench import plugin
from mldevbench.checks import Room, all_finite, beats, metric, predict, read_safetensors, require
from mldevbench.draw import Draw
from mldevbench.material import boolq
from mldevbench.material.opinions import draw_opinions
from mldevbench.material.questions import Example
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
WEIGHTS = "best_checkpoint/model.safetensors"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(WEIGHTS, submission.has(WEIGHTS), f"a file {WEIGHTS}", submission.why_not(WEIGHTS))
    tensors = read_safetensors(submission, WEIGHTS, profile["max_mb"])
    given = _given(draw, profile)
    yield from _fits(tensors, given.pop("shapes"))
    yield all_finite("finite weights", tensors)
    held_out = _held_out(draw, profile)
    files = {"tiny_bert.py": HERE / "workspace" / "tiny_bert.py", **given}
    with Room(submission, files=[WEIGHTS], add=files, max_mb=profile["max_mb"]) as room:
        probe = HERE / "hidden" / "probe.py"
        made = predict(room, probe, as_rows(held_out), draw=draw, seconds=profile["seconds"], key="questions")
    yield require("answers", made.ndim == 1, "one answer per question", f"shape {made.shape}")
    found = float((made == np.asarray([one.label for one in held_out])).mean())
    yield metric("accuracy", found)
    yield beats("accuracy on unseen questions", found, profile["min_accuracy"])


def _given(draw: Draw, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return configuration and vocabulary as the agent got them, and the shapes of the model's tensors."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        source = HERE / "workspace" / "pretrained"
        (place / "pretrained").mkdir()
        for path in source.iterdir():
            (place / "pretrained" / path.name).write_bytes(path.read_bytes())
        plugin.load(HERE / "data.py").prepare(place, draw, profile)
        shapes = {name: value.shape for name, value in load_file(place / "pretrained" / "model.safetensors").items()}
        files = {
            f"pretrained/{name}": (place / "pretrained" / name).read_bytes() for name in ("config.json", "vocab.txt")
        }
    return {**files, "shapes": shapes}


def _fits(tensors: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Check]:
    """Demand exactly the tensors of the model: more would be another model, fewer none."""
    odd = sorted(tensors.keys() ^ shapes.keys())
    yield require("tensors", not odd, f"the {len(shapes)} tensors of the model", f"others: {', '.join(odd[:4])}")
    for name, shape in shapes.items():
        seen = tensors[name]
        fits = seen.shape == shape and seen.dtype.kind == "f"
        yield require(name, fits, f"floats of shape {shape}", f"{seen.dtype} of shape {seen.shape}")


def _held_out(draw: Draw, profile: Mapping[str, Any]) -> list[Example]:
    if profile["source"] == "boolq":
        return boolq.held_out(draw, profile)
    return draw_opinions(draw.rng("held-out questions"), profile["held_out"])


def as_rows(examples: Sequence[Example]) -> np.ndarray:
    """Return questions and passages, no answers, as rows of JSON, filled up with blanks."""
    texts = [json.dumps({"question": one.question, "passage": one.passage}).encode() for one in examples]
    rows = np.full((len(texts), max(map(len, texts))), ord(" "), np.uint8)
    for row, text in zip(rows, texts, strict=True):
        row[: len(text)] = np.frombuffer(text, np.uint8)
    return rows
