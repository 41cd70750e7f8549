"""A small vision transformer under the names of Hugging Face's hub: its forward pass, and drawn copies of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

Weights = dict[str, np.ndarray]
FILE = Path(__file__).with_name("tiny_vit.safetensors")
SHA256 = "b60dc90ef52518bbd608d5bd32c365a7cb29e33b4f44e7f73a3e1de3760f56a3"  # weights and source change together
CONFIG: dict[str, Any] = {
    "architectures": ["ViTForImageClassification"],
    "model_type": "vit",
    "image_size": 32,
    "patch_size": 8,
    "num_channels": 3,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "qkv_bias": True,
    "layer_norm_eps": 1e-12,
}
PARTS = ("query", "key", "value")
EMBEDDINGS, HEAD = "vit.embeddings", "classifier"
# Which axis of a tensor counts the hidden units; all others keep their order when these change places.
HIDDEN_AXIS = {
    "query.weight": 1,
    "key.weight": 1,
    "value.weight": 1,
    "intermediate.dense.weight": 1,
    "classifier.weight": 1,
}
INNER = ("query.bias", "key.bias", "value.bias", "intermediate.dense.bias", "classifier.bias")


def shapes(config: Mapping[str, Any], classes: int) -> dict[str, tuple[int, ...]]:
    """Return the tensors of the network by name."""
    width, inner, patch = config["hidden_size"], config["intermediate_size"], config["patch_size"]
    places = (config["image_size"] // patch) ** 2 + 1
    made: dict[str, tuple[int, ...]] = {
        f"{EMBEDDINGS}.cls_token": (1, 1, width),
        f"{EMBEDDINGS}.position_embeddings": (1, places, width),
        f"{EMBEDDINGS}.patch_embeddings.projection.weight": (width, config["num_channels"], patch, patch),
        f"{EMBEDDINGS}.patch_embeddings.projection.bias": (width,),
    }
    for layer in range(config["num_hidden_layers"]):
        sizes = {f"attention.attention.{part}": (width, width) for part in PARTS}
        sizes |= {"attention.output.dense": (width, width)}
        sizes |= {"intermediate.dense": (inner, width), "output.dense": (width, inner)}
        for name, size in sizes.items():
            made |= {
                f"vit.encoder.layer.{layer}.{name}.weight": size,
                f"vit.encoder.layer.{layer}.{name}.bias": size[:1],
            }
        norms = [f"vit.encoder.layer.{layer}.layernorm_{place}" for place in ("before", "after")]
        made |= {f"{norm}.{part}": (width,) for norm in norms for part in ("weight", "bias")}
    made |= {"vit.layernorm.weight": (width,), "vit.layernorm.bias": (width,)}
    return made | {"classifier.weight": (classes, width), "classifier.bias": (classes,)}


def forward(weights: Mapping[str, torch.Tensor], config: Mapping[str, Any], pixels: torch.Tensor) -> torch.Tensor:
    """Return the scores of prepared pictures (picture, channel, row, column)."""
    import torch
    from torch.nn import functional

    width, epsilon = config["hidden_size"], config["layer_norm_eps"]

    def linear(name: str, value: torch.Tensor) -> torch.Tensor:
        return functional.linear(value, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def norm(name: str, value: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(value, (width,), weights[f"{name}.weight"], weights[f"{name}.bias"], epsilon)

    def heads(value: torch.Tensor) -> torch.Tensor:
        return value.unflatten(2, (config["num_attention_heads"], -1)).transpose(1, 2)

    projection = f"{EMBEDDINGS}.patch_embeddings.projection"
    size = config["patch_size"]
    patches = functional.conv2d(pixels, weights[f"{projection}.weight"], weights[f"{projection}.bias"], stride=size)
    first = weights[f"{EMBEDDINGS}.cls_token"].expand(len(pixels), -1, -1)
    tokens = torch.cat([first, patches.flatten(2).transpose(1, 2)], 1) + weights[f"{EMBEDDINGS}.position_embeddings"]
    for number in range(config["num_hidden_layers"]):
        layer = f"vit.encoder.layer.{number}"
        seen = norm(f"{layer}.layernorm_before", tokens)
        query, key, value = (heads(linear(f"{layer}.attention.attention.{part}", seen)) for part in PARTS)
        mixed = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
        tokens = tokens + linear(f"{layer}.attention.output.dense", mixed)
        inner = functional.gelu(linear(f"{layer}.intermediate.dense", norm(f"{layer}.layernorm_after", tokens)))
        tokens = tokens + linear(f"{layer}.output.dense", inner)
    return linear(HEAD, norm("vit.layernorm", tokens)[:, 0])


def drawn_copy(rng: np.random.Generator, weights: Mapping[str, np.ndarray]) -> Weights:
    """Return a network that does the same with other numbers: units and classes change places, some classes go."""
    order = rng.permutation(CONFIG["hidden_size"])
    kept = rng.permutation(len(weights["classifier.bias"]))[: int(rng.integers(5, 9))]
    made = {name: _reordered(name, value, order) for name, value in weights.items()}
    return made | {name: made[name][kept] for name in ("classifier.weight", "classifier.bias")}


def _reordered(name: str, value: np.ndarray, order: np.ndarray) -> np.ndarray:
    if name.endswith(INNER):
        return value.copy()
    axis = next((axis for end, axis in HIDDEN_AXIS.items() if name.endswith(end)), None)
    if axis is None:
        axis = 0 if "projection" in name or "dense.weight" in name else value.ndim - 1
    return np.ascontiguousarray(np.take(value, order, axis=axis))
