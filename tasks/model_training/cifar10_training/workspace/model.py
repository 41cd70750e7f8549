"""The network: a pretrained backbone and a linear head. Do not change this file."""

import torch
from safetensors.torch import load_file
from torch import nn

FEATURES = 96
CLASSES = 10


def stage(given, made):
    return nn.Sequential(nn.Conv2d(given, made, 3, padding=1), nn.BatchNorm2d(made), nn.ReLU())


class Backbone(nn.Module):
    """Pictures of 3 x 32 x 32, bytes divided by 255, to 96 features."""

    def __init__(self):
        super().__init__()
        self.first = stage(3, 24)
        self.second = stage(24, 48)
        self.third = stage(48, FEATURES)
        self.pool = nn.MaxPool2d(2)

    def forward(self, pictures):
        maps = self.pool(self.first(pictures))
        maps = self.pool(self.second(maps))
        return self.pool(self.third(maps)).mean(dim=(2, 3))


class Classifier(nn.Module):
    """The whole network; its state dict is what a checkpoint holds."""

    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(FEATURES, CLASSES)

    def forward(self, pictures):
        return self.head(self.backbone(pictures))

    def load_pretrained(self, path="pretrained/weights.safetensors"):
        """Give the backbone its pretrained weights; the head stays as drawn."""
        self.backbone.load_state_dict(load_file(path))
        return self
