# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right tokens, one by one, and the given blocks on top of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

Arrays = dict[str, np.ndarray]
Held = Mapping[str, torch.Tensor]


def shapes(vit: Any, sizes: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the shape of every parameter, in the order in which drawn weights are cut."""
    width, patch = sizes["width"], sizes["patch_size"]
    named = {
        "class_token": [1, 1, width],
        "norm.bias": [width],
        "norm.weight": [width],
        "patch_embedding.channel_embedding.weight": [sizes["channels"], width],
        "patch_embedding.projection.bias": [width],
        "patch_embedding.projection.weight": [width, 1, patch, patch],
        "positions": [1, 1 + (sizes["image_size"] // patch) ** 2, width],
    }
    for number in range(sizes["depth"]):
        for name, value in _bare_block(vit, sizes).named_parameters():
            named[f"blocks.{number}.{name}"] = list(value.shape)
    return dict(sorted(named.items()))


def _bare_block(vit: Any, sizes: Mapping[str, int]) -> torch.nn.Module:
    """Return a block without values: it costs nothing, and gets its weights when it is called."""
    with torch.device("meta"):
        return vit.Block(sizes["width"], sizes["heads"])


def cut(weights: np.ndarray, shaped: Mapping[str, list[int]]) -> dict[str, torch.Tensor]:
    start, named = 0, {}
    for name, shape in shaped.items():
        count = int(np.prod(shape))
        named[name] = torch.from_numpy(weights[start : start + count].reshape(shape)).double().requires_grad_()
        start += count
    return named


def answers(
    vit: Any, sizes: Mapping[str, int], weights: np.ndarray, images: np.ndarray, indices: np.ndarray, pull: np.ndarray
) -> Arrays:
    """Return prepared tokens, outputs and gradients."""
    held = cut(weights, shapes(vit, sizes))
    pixels = torch.from_numpy(images).double().requires_grad_()
    prepared = tokens(sizes, held, pixels, indices)
    output = prepared
    for number in range(sizes["depth"]):
        start = f"blocks.{number}."
        own = {name.removeprefix(start): value for name, value in held.items() if name.startswith(start)}
        output = torch.func.functional_call(_bare_block(vit, sizes), own, (output,))
    output = torch.nn.functional.layer_norm(output, output.shape[-1:], held["norm.weight"], held["norm.bias"])
    (output * torch.from_numpy(pull).double()).sum().backward()
    assert pixels.grad is not None
    gradients = [torch.zeros_like(value) if value.grad is None else value.grad for value in held.values()]
    found = {
        "prepared": prepared,
        "output": output,
        "image gradients": pixels.grad,
        "parameter gradients": torch.cat([value.flatten() for value in gradients]),
    }
    return {name: value.detach().numpy() for name, value in found.items()}


def tokens(sizes: Mapping[str, int], held: Held, pixels: torch.Tensor, indices: np.ndarray) -> torch.Tensor:
    patch, across = sizes["patch_size"], sizes["image_size"] // sizes["patch_size"]
    kernel = held["patch_embedding.projection.weight"].flatten(1)
    places = held["positions"][0]
    samples = []
    for sample, channels in zip(pixels, indices.tolist(), strict=True):
        made = [held["class_token"][0, 0] + places[0]]
        for plane, channel in zip(sample, channels, strict=True):
            name = held["patch_embedding.channel_embedding.weight"][channel]
            for number in range(across * across):
                row, column = patch * (number // across), patch * (number % across)
                cell = plane[row : row + patch, column : column + patch].flatten()
                made.append(kernel @ cell + held["patch_embedding.projection.bias"] + name + places[1 + number])
        samples.append(torch.stack(made))
    return torch.stack(samples)
