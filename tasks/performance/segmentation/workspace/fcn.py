"""The networks of this task. Do not change this file; your weights are put into what `build` returns."""

import json
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional


def block(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU())


def larger(features: torch.Tensor) -> torch.Tensor:
    return functional.interpolate(features, scale_factor=2, mode="nearest")


class SmallFcn(nn.Module):
    """Maps pictures of 32 by 32 pixels to a score for every class and pixel."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.first = block(3, 12, 2)
        self.second = block(12, 24, 2)
        self.third = nn.Sequential(block(24, 48, 2), block(48, 48))
        self.second_again = block(48 + 24, 24)
        self.first_again = block(24 + 12, 12)
        self.scores = nn.Conv2d(12, 4 * classes, 1)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        first = self.first(pictures)
        second = self.second(first)
        third = self.third(second)
        second = self.second_again(torch.cat([larger(third), second], 1))
        first = self.first_again(torch.cat([larger(second), first], 1))
        return functional.pixel_shuffle(self.scores(first), 2)


class FcnResnet50(nn.Module):
    """torchvision's FCN-ResNet50, without the auxiliary head."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        from torchvision.models.segmentation import fcn_resnet50

        self.network = fcn_resnet50(weights=None, weights_backbone=None, num_classes=classes, aux_loss=False)

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return self.network(pictures)["out"]


NETWORKS = {"small_fcn": SmallFcn, "fcn_resnet50": FcnResnet50}


def build(folder: str | Path = ".") -> nn.Module:
    """Return the network that model.json names, with random weights."""
    model = json.loads((Path(folder) / "model.json").read_text(encoding="utf-8"))
    return NETWORKS[model["model_name"]](model["num_classes"])


def prepared(pictures: torch.Tensor) -> torch.Tensor:
    """Return what the network is given for pictures as bytes."""
    return pictures.float() / 255 - 0.5
