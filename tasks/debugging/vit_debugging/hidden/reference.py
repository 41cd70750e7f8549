# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right transformer, as functions of its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

Tensors = dict[str, torch.Tensor]


def shapes(sizes: Mapping[str, Any]) -> dict[str, list[int]]:
    """Return every parameter's shape, sorted by name."""
    width, hidden = sizes["width"], sizes["hidden"]
    rows, columns = (
        side // patch for side, patch in zip(pair(sizes["image_size"]), pair(sizes["patch_size"]), strict=True)
    )
    made = {
        "class_token": [1, 1, width],
        "mask_token": [1, width],
        "position": [1, 1 + rows * columns, width],
        "patch_embed.projection.weight": [width, sizes["in_channels"], *pair(sizes["patch_size"])],
        "patch_embed.projection.bias": [width],
    }
    if sizes["registers"]:
        made["register_tokens"] = [1, sizes["registers"], width]
    layers = {"attention.qkv": (3 * width, width), "attention.projection": (width, width)}
    if sizes["feed_forward"] == "mlp":
        layers |= {"feed_forward.first": (hidden, width), "feed_forward.second": (width, hidden)}
    else:
        layers |= {"feed_forward.both": (2 * hidden, width), "feed_forward.last": (width, hidden)}
    for block in range(sizes["depth"]):
        made |= {f"blocks.{block}.{name}.weight": list(shape) for name, shape in layers.items()}
        made |= {f"blocks.{block}.{name}.bias": [shape[0]] for name, shape in layers.items()}
        made |= {f"blocks.{block}.{name}.{part}": [width] for name in ("norm1", "norm2") for part in ("weight", "bias")}
        made |= {f"blocks.{block}.{name}.gamma": [width] for name in ("scale1", "scale2")}
    made |= {"norm.weight": [width], "norm.bias": [width]}
    return dict(sorted(made.items()))


def pair(size: int | list[int]) -> list[int]:
    return [size, size] if isinstance(size, int) else list(size)


def answers(
    case: Mapping[str, Any], weights: np.ndarray, images: np.ndarray, masks: np.ndarray
) -> dict[str, np.ndarray]:
    """Return all that forward and intermediate_layers must give, and the gradients."""
    held, start = {}, 0
    for name, shape in shapes(case["sizes"]).items():
        count = int(np.prod(shape))
        held[name] = torch.from_numpy(weights[start : start + count].reshape(shape).copy()).requires_grad_()
        start += count
    pixels = torch.from_numpy(images.copy()).requires_grad_()
    mask = torch.from_numpy(masks.copy()) if case["masked"] else None
    outputs = _forward(case, held, pixels, mask) | _layers(case, held, pixels)
    pulled = torch.stack([(value * (0.3 + value)).mean() for value in outputs.values() if value.numel()]).sum()
    pulled.backward()
    found = {name: value.detach().numpy() for name, value in outputs.items()}
    found["image gradients"] = _gradient(pixels).numpy()
    found["parameter gradients"] = torch.cat([_gradient(value).reshape(-1) for value in held.values()]).numpy()
    return found


def _gradient(value: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(value) if value.grad is None else value.grad


def _forward(case: Mapping[str, Any], held: Tensors, pixels: torch.Tensor, mask: torch.Tensor | None) -> Tensors:
    tokens = _blocks(case, held, _embed(case, held, pixels, mask))[-1]
    normed, first = _norm(tokens, held, "norm"), 1 + case["sizes"]["registers"]
    return {
        "class": normed[:, 0],
        "registers": normed[:, 1:first],
        "patches": normed[:, first:],
        "before_norm": tokens,
    }


def _layers(case: Mapping[str, Any], held: Tensors, pixels: torch.Tensor) -> Tensors:
    found: Tensors = {}
    first = 1 + case["sizes"]["registers"]
    for place, tokens in enumerate(_blocks(case, held, _embed(case, held, pixels, None))[-case["count"] :]):
        normed = _norm(tokens, held, "norm")
        patches = normed[:, first:]
        if case["as_maps"]:
            patches = patches.transpose(1, 2).reshape(len(pixels), -1, *_grid(case, pixels))
        found[f"layer {place} patches"] = patches
        if case["with_class"]:
            found[f"layer {place} class"] = normed[:, 0]
    return found


def _grid(case: Mapping[str, Any], pixels: torch.Tensor) -> list[int]:
    patch = pair(case["patch_size"] or case["sizes"]["patch_size"])
    return [pixels.shape[2] // patch[0], pixels.shape[3] // patch[1]]


def _resized(values: torch.Tensor, size: list[int]) -> torch.Tensor:
    if list(values.shape[2:]) == size:
        return values
    return functional.interpolate(values, size=size, mode="bilinear", align_corners=False)


def _embed(case: Mapping[str, Any], held: Tensors, pixels: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    sizes = case["sizes"]
    native = pair(sizes["patch_size"])
    patch = pair(case["patch_size"] or native)
    kernel = _resized(held["patch_embed.projection.weight"], patch) * (native[0] * native[1] / (patch[0] * patch[1]))
    maps = functional.conv2d(pixels, kernel, held["patch_embed.projection.bias"], stride=patch)
    patches = maps.flatten(2).transpose(1, 2)
    if mask is not None:
        patches = torch.where(mask[..., None], held["mask_token"][None], patches)
    table = held["position"][:, 1:].transpose(1, 2)
    native_grid = [side // own for side, own in zip(pair(sizes["image_size"]), native, strict=True)]
    table = _resized(table.reshape(1, -1, *native_grid), _grid(case, pixels)).flatten(2).transpose(1, 2)
    parts = [(held["class_token"] + held["position"][:, :1]).expand(len(pixels), -1, -1)]
    if sizes["registers"]:
        parts.append(held["register_tokens"].expand(len(pixels), -1, -1))
    return torch.cat([*parts, patches + table], dim=1)


def _blocks(case: Mapping[str, Any], held: Tensors, tokens: torch.Tensor) -> list[torch.Tensor]:
    """Return the tokens after each block."""
    sizes, after = case["sizes"], []
    for block in range(sizes["depth"]):
        own = {name.removeprefix(f"blocks.{block}."): value for name, value in held.items()}
        tokens = tokens + own["scale1.gamma"] * _attend(_norm(tokens, own, "norm1"), own, sizes["heads"])
        tokens = tokens + own["scale2.gamma"] * _feed(_norm(tokens, own, "norm2"), own)
        after.append(tokens)
    return after


def _norm(tokens: torch.Tensor, held: Tensors, name: str) -> torch.Tensor:
    return functional.layer_norm(tokens, tokens.shape[-1:], held[f"{name}.weight"], held[f"{name}.bias"])


def _linear(tokens: torch.Tensor, held: Tensors, name: str) -> torch.Tensor:
    return functional.linear(tokens, held[f"{name}.weight"], held[f"{name}.bias"])


def _attend(tokens: torch.Tensor, held: Tensors, heads: int) -> torch.Tensor:
    parts = _linear(tokens, held, "attention.qkv").chunk(3, -1)
    query, key, value = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts)
    mixed = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)
    return _linear(mixed, held, "attention.projection")


def _feed(tokens: torch.Tensor, held: Tensors) -> torch.Tensor:
    if "feed_forward.first.weight" in held:
        return _linear(functional.gelu(_linear(tokens, held, "feed_forward.first")), held, "feed_forward.second")
    gate, passed = _linear(tokens, held, "feed_forward.both").chunk(2, -1)
    return _linear(functional.silu(gate) * passed, held, "feed_forward.last")
