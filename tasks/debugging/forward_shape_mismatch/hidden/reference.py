# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right model, as a function of its weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch.nn import functional


def sliced(weights: np.ndarray, shapes: Mapping[str, list[int]]) -> dict[str, np.ndarray]:
    """Cut one vector into named arrays, in the order of the names."""
    start, named = 0, {}
    for name, shape in sorted(shapes.items()):
        count = int(np.prod(shape))
        named[name] = weights[start : start + count].reshape(shape)
        start += count
    return named


def answers(
    weights: Mapping[str, np.ndarray], images: np.ndarray, pull: np.ndarray, side: int
) -> dict[str, np.ndarray]:
    """Return outputs and gradients; `side` is the side of the map that the classifier sees."""
    held = {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in weights.items()}
    pixels = torch.from_numpy(images.copy()).requires_grad_()
    features = functional.conv2d(pixels, held["conv1.weight"], held["conv1.bias"], padding=1).relu()
    features = functional.conv2d(features, held["conv2.weight"], held["conv2.bias"], padding=1).relu()
    features = functional.adaptive_avg_pool2d(functional.max_pool2d(features, 2), side)
    outputs = functional.linear(features.flatten(1), held["classifier.weight"], held["classifier.bias"])
    (outputs * torch.from_numpy(pull.copy())).sum().backward()
    gradients = [value.grad.reshape(-1) for value in held.values() if value.grad is not None]
    assert pixels.grad is not None
    return {
        "outputs": outputs.detach().numpy(),
        "image gradients": pixels.grad.numpy(),
        "parameter gradients": torch.cat(gradients).numpy(),
    }
