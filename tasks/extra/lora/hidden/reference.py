# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right outputs and gradients, in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


def shapes(case: Mapping[str, Any]) -> dict[str, list[int]]:
    inside, outside, rank = case["in_features"], case["out_features"], case["rank"]
    bias = {"linear.bias": [outside]} if case["bias"] else {}
    return {**bias, "linear.weight": [outside, inside], "lora_A": [rank, inside], "lora_B": [outside, rank]}


def cut(case: Mapping[str, Any], weights: np.ndarray) -> Arrays:
    start, named = 0, {}
    for name, shape in shapes(case).items():
        count = int(np.prod(shape))
        named[name] = weights[start : start + count].reshape(shape).astype(np.float64)
        start += count
    return named


def merged(case: Mapping[str, Any], held: Mapping[str, np.ndarray]) -> np.ndarray:
    return held["linear.weight"] + case["alpha"] / case["rank"] * held["lora_B"] @ held["lora_A"]


def answers(case: Mapping[str, Any], held: Mapping[str, np.ndarray], x: np.ndarray, pull: np.ndarray) -> Arrays:
    """Return output and gradients of (output * pull).sum()."""
    whole, scale = merged(case, held), case["alpha"] / case["rank"]
    flat, drawn = x.reshape(-1, x.shape[-1]).astype(np.float64), pull.reshape(-1, pull.shape[-1]).astype(np.float64)
    return {
        "output": x @ whole.T + held.get("linear.bias", 0.0),
        "input gradients": pull @ whole,
        "lora_A gradients": scale * held["lora_B"].T @ drawn.T @ flat,
        "lora_B gradients": scale * drawn.T @ (flat @ held["lora_A"].T),
    }
