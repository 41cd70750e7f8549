# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the saved model with the hub's, tensor by tensor, and its tokenizer on sentences drawn later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.checks import Room, check, equal, metric, read_json, read_safetensors, require
from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.hub_bert import NUMBERS, HubModel, draw_bert, encoder, read_model
from mldevbench.material.wordpiece import draw_text, encode
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

PROBE = Path(__file__).parent / "hidden" / "probe.py"
CONFIG, WEIGHTS, TOKENIZER = "model/config.json", "model/model.safetensors", "model/tokenizer.json"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    truth = _truth(draw, profile)
    yield from _info(submission, truth, profile["model"])
    config = read_json(submission, CONFIG)
    yield require(CONFIG, isinstance(config, dict), "an object", type(config).__name__)
    for name in (*NUMBERS, "intermediate_size", "model_type"):
        yield equal(f"{name} in {CONFIG}", config.get(name), truth.config[name], show_expected=False)
    yield from _weights(submission, truth, profile["weights_mb"])
    yield from _tokenizer(submission, draw, truth, profile["sentences"])


def _truth(draw: Draw, profile: Mapping[str, Any]) -> HubModel:
    if profile["source"] == "drawn":
        return draw_bert(draw.rng("model"), profile)
    return read_model(*(asset(profile, name) for name in ("config.json", "model.safetensors", "vocab.txt")))


def _info(submission: Submission, truth: HubModel, model: str) -> Iterator[Check]:
    info = read_json(submission, "model_info.json")
    yield require("model_info.json", isinstance(info, dict), "an object", type(info).__name__)
    yield equal("model_name", info.get("model_name"), model)
    yield equal("model_path", str(info.get("model_path")).removeprefix("./").rstrip("/"), "model")
    files = info.get("files")
    for name, path in (("config", CONFIG), ("weights", WEIGHTS), ("tokenizer", TOKENIZER)):
        told = files.get(name) if isinstance(files, dict) else None
        yield equal(f"files.{name}", str(told).removeprefix("./"), path)
        yield require(path, submission.has(path), f"a file {path}", "none")
    numbers = {name: truth.config[name] for name in NUMBERS}
    numbers["num_parameters"] = sum(value.size for value in truth.weights.values())
    told = info.get("architecture")
    for name, right in numbers.items():
        yield equal(name, told.get(name) if isinstance(told, dict) else None, right, show_expected=False)


def _weights(submission: Submission, truth: HubModel, max_mb: float) -> Iterator[Check | Metric]:
    saved = encoder(read_safetensors(submission, WEIGHTS, max_mb=max_mb))
    missing = sorted(truth.weights.keys() - saved.keys())
    other = sorted(saved.keys() - truth.weights.keys())
    expected = f"the encoder's {len(truth.weights)} tensors"
    seen = (
        f"{len(saved)} tensors; missing: {', '.join(missing[:3]) or 'none'}; others: {', '.join(other[:3]) or 'none'}"
    )
    yield check("names of tensors", not missing and not other, expected, seen)
    wrong = [name for name, value in truth.weights.items() if name in saved and not _same(saved[name], value)]
    yield check("values of tensors", not wrong and not missing, "the hub's values in float32",
                f"other values, shapes or types: {', '.join(wrong[:3])}" if wrong else "the same")  # fmt: skip
    yield metric("share of tensors", 1 - len({*wrong, *missing}) / len(truth.weights))


def _same(seen: np.ndarray, right: np.ndarray) -> bool:
    return seen.dtype == right.dtype and seen.shape == right.shape and bool(np.array_equal(seen, right))


def _tokenizer(submission: Submission, draw: Draw, truth: HubModel, count: int) -> Iterator[Check | Metric]:
    rng = draw.rng("held-out sentences")
    texts = [draw_text(rng, truth.vocabulary) for _ in range(count)]
    with Room(submission, files=[TOKENIZER]) as room:
        made = room.call(PROBE, {"texts": texts}, seconds=60).get("ids")
    right = [encode(text, truth.vocabulary) for text in texts]
    given = made if isinstance(made, list) and len(made) == count else [None] * count
    good = sum(isinstance(seen, list) and seen == ids for seen, ids in zip(given, right, strict=True))
    yield check("sentences as ids", good == count, f"the right ids for {count} sentences", f"right for {good}")
    yield metric("share of sentences", good / count)
