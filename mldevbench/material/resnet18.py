"""ResNet-18 under torchvision's names: drawn weights, the file that carries them, and the forward pass."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

Weights = dict[str, np.ndarray]
WIDTHS = (64, 128, 256, 512)
BUFFERS = ("running_mean", "running_var", "num_batches_tracked")


def shapes(classes: int) -> dict[str, tuple[int, ...]]:
    """Return all tensors in the order of torchvision's state dict."""
    made: dict[str, tuple[int, ...]] = {"conv1.weight": (64, 3, 7, 7), **_norm("bn1", 64)}
    given = 64
    for stage, width in enumerate(WIDTHS, start=1):
        for block in (0, 1):
            name = f"layer{stage}.{block}"
            made |= {f"{name}.conv1.weight": (width, given, 3, 3), **_norm(f"{name}.bn1", width)}
            made |= {f"{name}.conv2.weight": (width, width, 3, 3), **_norm(f"{name}.bn2", width)}
            if given != width:
                made |= {f"{name}.downsample.0.weight": (width, given, 1, 1), **_norm(f"{name}.downsample.1", width)}
            given = width
    return made | {"fc.weight": (classes, 512), "fc.bias": (classes,)}


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    sizes = {part: (width,) for part in ("weight", "bias", "running_mean", "running_var")}
    return {f"{name}.{part}": size for part, size in sizes.items()} | {f"{name}.num_batches_tracked": ()}


def draw_weights(rng: np.random.Generator, classes: int) -> Weights:
    """Draw weights with which scores stay of ordinary size."""
    return dict(_drawn(rng, classes))


def _drawn(rng: np.random.Generator, classes: int) -> Iterator[tuple[str, np.ndarray]]:
    for name, shape in shapes(classes).items():
        if name.endswith("num_batches_tracked"):
            yield name, np.array(rng.integers(1000, 9000), np.int64)
        elif name.endswith("running_var"):
            yield name, rng.uniform(0.7, 1.3, shape).astype(np.float32)
        elif len(shape) == 1:
            yield name, (rng.normal(0, 0.1, shape) + name.endswith("weight")).astype(np.float32)
        else:
            scale = np.float32(np.sqrt(2 / np.prod(shape[1:])))
            yield name, rng.standard_normal(shape, np.float32) * scale


def parameter_count(weights: Mapping[str, np.ndarray]) -> int:
    """Return how many numbers training would change; buffers don't count."""
    return sum(value.size for name, value in weights.items() if not name.endswith(BUFFERS))


def to_file(weights: Mapping[str, np.ndarray]) -> bytes:
    """Return the weights as `torch.save` writes a state dict."""
    import torch

    buffer = io.BytesIO()
    torch.save({name: torch.from_numpy(value) for name, value in weights.items()}, buffer)
    return buffer.getvalue()


def file_name(content: bytes) -> str:
    """Return the name under which torch.hub would verify this content."""
    return f"resnet18-{hashlib.sha256(content).hexdigest()[:8]}.pth"


def forward(weights: Mapping[str, np.ndarray], pictures: np.ndarray) -> np.ndarray:
    """Return the scores of prepared pictures in evaluation mode."""
    import torch
    from torch.nn import functional

    tensors = {name: torch.from_numpy(value) for name, value in weights.items()}

    def conv(name: str, value: torch.Tensor, stride: int, padding: int) -> torch.Tensor:
        return functional.conv2d(value, tensors[f"{name}.weight"], stride=stride, padding=padding)

    def norm(name: str, value: torch.Tensor) -> torch.Tensor:
        mean, spread, scale, shift = (tensors[f"{name}.{part}"] for part in (*BUFFERS[:2], "weight", "bias"))
        return functional.batch_norm(value, mean, spread, scale, shift)

    def block(name: str, value: torch.Tensor, stride: int) -> torch.Tensor:
        made = functional.relu(norm(f"{name}.bn1", conv(f"{name}.conv1", value, stride, 1)))
        made = norm(f"{name}.bn2", conv(f"{name}.conv2", made, 1, 1))
        if f"{name}.downsample.0.weight" in tensors:
            value = norm(f"{name}.downsample.1", conv(f"{name}.downsample.0", value, stride, 0))
        return functional.relu(made + value)

    with torch.no_grad():
        maps = functional.relu(norm("bn1", conv("conv1", torch.from_numpy(pictures), 2, 3)))
        maps = functional.max_pool2d(maps, 3, 2, 1)
        for stage in range(1, 5):
            maps = block(f"layer{stage}.0", maps, 1 if stage == 1 else 2)
            maps = block(f"layer{stage}.1", maps, 1)
        return functional.linear(maps.mean((2, 3)), tensors["fc.weight"], tensors["fc.bias"]).numpy()
