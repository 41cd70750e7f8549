"""What the mirror serves in this instance: ResNet-18 as torchvision's own server has it, and a card about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.resnet18 import Weights, draw_weights, file_name, to_file

REAL = "resnet18-f37072fd.pth"
SIDES = (128, 160, 192)


class Card(NamedTuple):
    """What is published about the model."""

    classes: int
    side: int


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    np.save(destination / "picture.npy", picture(draw, profile))


def serve(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    place = destination / "models"
    place.mkdir()
    about = card(draw, profile)
    if profile["source"] == "imagenet":
        name = REAL
        (place / name).symlink_to(asset(profile, REAL))
    else:
        content = to_file(weights(draw, profile))
        name = file_name(content)
        (place / name).write_bytes(content)
    told = {"model_name": "resnet18", "file": name, "num_classes": about.classes}
    told["input_shape"] = [3, about.side, about.side]
    (place / "resnet18.json").write_text(json.dumps(told, indent=2), encoding="utf-8")


def card(draw: Draw, profile: Mapping[str, Any]) -> Card:
    if profile["source"] == "imagenet":
        return Card(1000, 224)
    rng = draw.rng("card")
    return Card(int(rng.integers(20, 900)), int(rng.choice(SIDES)))


def weights(draw: Draw, profile: Mapping[str, Any]) -> Weights:
    """Return the right weights: drawn, or those of the verified asset."""
    if profile["source"] != "imagenet":
        return draw_weights(draw.rng("weights"), card(draw, profile).classes)
    import torch

    loaded = torch.load(asset(profile, REAL), map_location="cpu", weights_only=True)
    return {name: value.detach().numpy() for name, value in loaded.items()}


def picture(draw: Draw, profile: Mapping[str, Any]) -> np.ndarray:
    side = card(draw, profile).side
    return draw.rng("picture").normal(0, 1, (3, side, side)).astype(np.float32)
