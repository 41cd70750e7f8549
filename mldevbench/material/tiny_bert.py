"""A very small BERT in NumPy: what a checkpoint answers to questions, computed without any submitted code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mldevbench.material.questions import Example

Weights = dict[str, np.ndarray]


def drawn_checkpoint(
    rng: np.random.Generator, weights: Mapping[str, np.ndarray], words: Sequence[str], spread: float
) -> tuple[Weights, list[str]]:
    """Return a checkpoint like the given one: vocabulary in another order, weights a little changed."""
    made = {name: _shaken(rng, value, spread) for name, value in weights.items()}
    order = rng.permutation(len(words))
    made["words.weight"] = np.ascontiguousarray(made["words.weight"][order])
    return made, [words[int(place)] for place in order]


def _shaken(rng: np.random.Generator, value: np.ndarray, spread: float) -> np.ndarray:
    return (value + rng.normal(0, spread, value.shape) * value.std()).astype(np.float32)


def margins(
    weights: Mapping[str, np.ndarray], words: Sequence[str], config: Mapping[str, Any], examples: Sequence[Example]
) -> np.ndarray:
    """Return, for each example, by how much yes beats no."""
    ids = {word: number for number, word in enumerate(words)}
    held = {name: value.astype(np.float32) for name, value in weights.items()}
    found = np.zeros(len(examples))
    pairs = [_pair(ids, example, config["max_length"]) for example in examples]
    for length in {len(tokens) for tokens, _ in pairs}:
        places = [place for place, (tokens, _) in enumerate(pairs) if len(tokens) == length]
        tokens, segments = (np.asarray([pairs[place][part] for place in places]) for part in (0, 1))
        scores = _scores(held, tokens, segments, config)
        found[places] = scores[:, 1] - scores[:, 0]
    return found


def _pair(ids: Mapping[str, int], example: Example, max_length: int) -> tuple[list[int], list[int]]:
    first = [ids["[CLS]"], *(ids[word] for word in example.question.split()), ids["[SEP]"]]
    kept = example.passage.split()[: max_length - len(first) - 1]
    rest = [*(ids[word] for word in kept), ids["[SEP]"]]
    return first + rest, [0] * len(first) + [1] * len(rest)


def _scores(held: Weights, tokens: np.ndarray, segments: np.ndarray, config: Mapping[str, Any]) -> np.ndarray:
    states = (
        held["words.weight"][tokens] + held["positions.weight"][: tokens.shape[1]] + held["segments.weight"][segments]
    )
    states = _norm(states, held, "embedding_norm")
    for layer in range(config["num_hidden_layers"]):
        own = {name.removeprefix(f"layers.{layer}."): value for name, value in held.items()}
        mixed = _attend(states, own, config["num_attention_heads"])
        states = _norm(states + _linear(mixed, own, "output"), own, "attention_norm")
        wide = np.maximum(_linear(states, own, "widen"), 0)
        states = _norm(states + _linear(wide, own, "narrow"), own, "output_norm")
    return _linear(states[:, 0], held, "classifier")


def _attend(states: np.ndarray, held: Weights, heads: int) -> np.ndarray:
    batch, length, hidden = states.shape
    shape = (batch, length, heads, hidden // heads)
    query, key, value = (
        _linear(states, held, name).reshape(shape).transpose(0, 2, 1, 3) for name in ("query", "key", "value")
    )
    weights = query @ key.transpose(0, 1, 3, 2) / np.sqrt(hidden // heads)
    weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ value).transpose(0, 2, 1, 3).reshape(batch, length, hidden)


def _linear(values: np.ndarray, held: Weights, name: str) -> np.ndarray:
    return values @ held[f"{name}.weight"].T + held[f"{name}.bias"]


def _norm(values: np.ndarray, held: Weights, name: str) -> np.ndarray:
    centred = values - values.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    return scaled * held[f"{name}.weight"] + held[f"{name}.bias"]
