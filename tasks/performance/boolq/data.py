"""The questions of this instance, and a pretrained model whose vocabulary has an order of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file, save

from mldevbench.draw import Draw
from mldevbench.material import boolq
from mldevbench.material.opinions import draw_opinions, shuffled_words
from mldevbench.material.questions import Example, to_lines


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    place, rng = destination / "pretrained", draw.rng("given questions")
    (destination / "data").mkdir()
    if profile["source"] == "boolq":
        train, unlabelled = boolq.given(draw, profile)
        (place / "model.safetensors").write_bytes(save(boolq.bert(profile, rng)))
        boolq.write_vocabulary(profile, place / "vocab.txt")
        (place / "config.json").write_text(json.dumps(profile["config"], indent=2), encoding="utf-8")
    else:
        train = draw_opinions(rng, profile["train"], asked=draw.integer("asked kind", 0, 2))
        unlabelled = draw_opinions(rng, profile["unlabelled"])
        words = (place / "vocab.txt").read_text(encoding="utf-8").split()
        weights, words = shuffled_words(rng, load_file(place / "model.safetensors"), words)
        (place / "model.safetensors").write_bytes(save(weights))
        (place / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    (destination / "data" / "train.jsonl").write_bytes(to_lines(train))
    (destination / "data" / "unlabelled.jsonl").write_bytes(_without_labels(unlabelled))
    percent = round(100 * profile["min_accuracy"])
    return {"percent": percent, "given": profile["given"].strip(), "train_count": len(train)}


def _without_labels(examples: Sequence[Example]) -> bytes:
    rows = ({"question": one.question, "passage": one.passage, "idx": one.idx} for one in examples)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
