"""The real BoolQ and a real BERT, in the form that the task's own model and tokenizer take."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.questions import Example

NAMES = {
    "bert.embeddings.word_embeddings.weight": "words.weight",
    "bert.embeddings.position_embeddings.weight": "positions.weight",
    "bert.embeddings.token_type_embeddings.weight": "segments.weight",
    "bert.embeddings.LayerNorm": "embedding_norm",
    "bert.pooler.dense": "pooler",
}
PARTS = {
    "attention.self.query": "query",
    "attention.self.key": "key",
    "attention.self.value": "value",
    "attention.output.dense": "output",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "widen",
    "output.dense": "narrow",
    "output.LayerNorm": "output_norm",
}
ENDS = {"gamma": "weight", "beta": "bias"}  # as old checkpoints call what a norm learns


def examples(profile: Mapping[str, Any], file: str) -> list[Example]:
    """Read one of BoolQ's files, which call the label `answer`."""
    rows = [json.loads(line) for line in asset(profile, file).read_text(encoding="utf-8").splitlines()]
    return [Example(row["question"], row["passage"], bool(row["answer"]), place) for place, row in enumerate(rows)]


def given(draw: Draw, profile: Mapping[str, Any]) -> tuple[list[Example], list[Example]]:
    """Return labelled questions, and some whose labels are not to be told."""
    known = examples(profile, "train.jsonl")
    mixed = [known[int(place)] for place in draw.rng("training split").permutation(len(known))]
    return mixed[profile["unlabelled"] :], mixed[: profile["unlabelled"]]


def held_out(draw: Draw, profile: Mapping[str, Any]) -> list[Example]:
    """Return questions of the validation file, which no agent's node needs."""
    known = examples(profile, "dev.jsonl")
    order = draw.rng("held-out questions").permutation(len(known))
    return [known[int(place)] for place in order[: profile["held_out"]]]


def bert(profile: Mapping[str, Any], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return BERT's weights under our names, with a new head."""
    loaded = load_file(asset(profile, "model.safetensors"))
    made = {name: value for old, value in loaded.items() if (name := our_name(old)) is not None}
    hidden = made["pooler.weight"].shape[0]
    made["classifier.weight"] = rng.normal(0, 0.02, (2, hidden)).astype(np.float32)
    return {**made, "classifier.bias": np.zeros(2, np.float32)}


def our_name(old: str) -> str | None:
    """Return what the task's model calls a tensor, None for one that it doesn't have."""
    if old in NAMES:
        return NAMES[old]
    stem, _, end = old.rpartition(".")
    end = ENDS.get(end, end)
    if stem in NAMES:
        return f"{NAMES[stem]}.{end}"
    if stem.startswith("bert.encoder.layer."):
        layer, _, part = stem.removeprefix("bert.encoder.layer.").partition(".")
        return f"layers.{layer}.{PARTS[part]}.{end}" if part in PARTS else None
    return None


def write_vocabulary(profile: Mapping[str, Any], path: Path) -> None:
    path.write_bytes(asset(profile, "vocab.txt").read_bytes())
