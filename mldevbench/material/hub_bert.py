"""A small BERT with drawn sizes, weights and vocabulary, in the files that the Hugging Face hub holds of a model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.material.wordpiece import draw_vocabulary, tokenizer_file

Weights = dict[str, np.ndarray]
NUMBERS = ("hidden_size", "num_attention_heads", "num_hidden_layers", "vocab_size")


@dataclass(frozen=True)
class HubModel:
    """What a model's repository says, read or drawn."""

    config: dict[str, Any]
    weights: Weights
    vocabulary: list[str]


def draw_bert(rng: np.random.Generator, profile: Mapping[str, Any]) -> HubModel:
    heads = int(rng.choice(profile["heads"]))
    vocabulary = draw_vocabulary(rng, int(rng.integers(*profile["words"])))
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": heads * int(rng.integers(*profile["head_sizes"])) * 2,
        "num_attention_heads": heads,
        "num_hidden_layers": int(rng.integers(*profile["layers"])),
        "intermediate_size": int(rng.integers(*profile["intermediate"])) * 4,
        "vocab_size": len(vocabulary),
        "max_position_embeddings": 64,
        "type_vocab_size": 2,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
    return HubModel(config, _weights(rng, config), vocabulary)


def _weights(rng: np.random.Generator, config: Mapping[str, Any]) -> Weights:
    hidden, wide = config["hidden_size"], config["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], hidden),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], hidden),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], hidden),
        **_norm("embeddings.LayerNorm", hidden),
        **_dense("pooler.dense", hidden, hidden),
    }
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        for name in ("query", "key", "value"):
            shapes |= _dense(f"{layer}.attention.self.{name}", hidden, hidden)
        shapes |= _dense(f"{layer}.attention.output.dense", hidden, hidden)
        shapes |= _norm(f"{layer}.attention.output.LayerNorm", hidden)
        shapes |= _dense(f"{layer}.intermediate.dense", wide, hidden)
        shapes |= _dense(f"{layer}.output.dense", hidden, wide)
        shapes |= _norm(f"{layer}.output.LayerNorm", hidden)
    return {name: _values(rng, name, shape) for name, shape in shapes.items()}


def _dense(name: str, out: int, into: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (out, into), f"{name}.bias": (out,)}


def _norm(name: str, size: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}


def _values(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    around = 1.0 if "LayerNorm.weight" in name else 0.0
    return (around + 0.05 * rng.standard_normal(shape)).astype(np.float32)


def write_model(model: HubModel, folder: Path) -> None:
    """Write the files of a repository."""
    from safetensors.numpy import save_file

    folder.mkdir(parents=True)
    length = model.config["max_position_embeddings"]
    about = {"do_lower_case": True, "model_max_length": length, "tokenizer_class": "BertTokenizer"}
    described = {
        "config.json": model.config,
        "tokenizer.json": tokenizer_file(model.vocabulary),
        "tokenizer_config.json": about,
    }
    for name, value in described.items():
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join([*model.vocabulary, ""]), encoding="utf-8")
    save_file(model.weights, folder / "model.safetensors", metadata={"format": "pt"})


def read_model(config: Path, weights: Path, vocabulary: Path) -> HubModel:
    """Read the files of a repository that we verified."""
    from safetensors.numpy import load_file

    words = vocabulary.read_text(encoding="utf-8").split("\n")
    return HubModel(
        json.loads(config.read_text(encoding="utf-8")),
        encoder(load_file(weights)),
        words[:-1] if not words[-1] else words,
    )


def encoder(weights: Mapping[str, np.ndarray]) -> Weights:
    """Return the encoder's tensors under one set of names, whichever head and age the file is of."""
    made: Weights = {}
    for name, value in weights.items():
        plain = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
        plain = plain.replace("LayerNorm.beta", "LayerNorm.bias")
        if not plain.startswith("cls.") and not plain.endswith("position_ids"):
            made[plain] = value
    return made
