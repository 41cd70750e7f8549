# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A small MobileNet: depthwise blocks on colour pictures. Do not change this file."""

import torch
from torch import nn


def convolution(given: int, made: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(given, made, size, stride=stride, padding=size // 2, groups=groups, bias=False),
        nn.BatchNorm2d(made),
        nn.ReLU6(),
    )


class Block(nn.Module):
    """Widen, filter each channel by itself, narrow again."""

    def __init__(self, given: int, made: int, stride: int, expansion: int = 3) -> None:
        super().__init__()
        wide = given * expansion
        self.expand = convolution(given, wide, 1)
        self.filter = convolution(wide, wide, 3, stride, groups=wide)
        self.project = nn.Sequential(nn.Conv2d(wide, made, 1, bias=False), nn.BatchNorm2d(made))
        self.shortcut = stride == 1 and given == made

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        changed = self.project(self.filter(self.expand(maps)))
        return maps + changed if self.shortcut else changed


class MobileNet(nn.Module):
    """Maps a batch of three-channel pictures to one score per class."""

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.stem = convolution(1, 16, 3, stride=2)
        self.blocks = nn.Sequential(Block(16, 24, 2), Block(24, 24, 1), Block(24, 40, 2), Block(40, 40, 1))
        self.head = convolution(40, 96, 1)
        self.classifier = nn.Linear(96, num_classes)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        maps = self.head(self.blocks(self.stem(pictures)))
        return self.classifier(maps.mean(dim=(2, 3)))
