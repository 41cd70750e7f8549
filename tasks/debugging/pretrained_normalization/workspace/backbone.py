"""The pretrained backbone: pictures to features. Do not change this file."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn

FEATURES = 64


def stage(given: int, made: int, size: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(given, made, size), nn.BatchNorm2d(made), nn.ReLU())


class Backbone(nn.Module):
    """Three stages of convolution, batch normalisation and ReLU; the last map is averaged over its places."""

    def __init__(self) -> None:
        super().__init__()
        self.first = stage(3, 16, 3)
        self.second = stage(16, 32, 3)
        self.third = stage(32, FEATURES, 3)
        self.pool = nn.MaxPool2d(2)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        maps = self.pool(self.first(pictures))
        maps = self.pool(self.second(maps))
        return self.third(maps).mean(dim=(2, 3))


def load_backbone(folder: str | Path) -> Backbone:
    """Return the backbone with the weights of a folder."""
    backbone = Backbone()
    backbone.load_state_dict(load_file(Path(folder) / "weights.safetensors"))
    return backbone
