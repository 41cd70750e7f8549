"""The classifier. Its architecture is fixed: weights are loaded into this very class."""

import json
from pathlib import Path

from torch import nn


class Classifier(nn.Module):
    """Convolution, ReLU and max-pooling for each width, then a linear layer."""

    def __init__(self, widths, size, classes=10):
        super().__init__()
        layers, channels = [], 3
        for width in widths:
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
            channels, size = width, size // 2
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(channels * size * size, classes)

    def forward(self, pictures):
        return self.head(self.features(pictures).flatten(1))


def build(config="model.json"):
    """Return a classifier with fresh weights, of the sizes that model.json tells."""
    sizes = json.loads(Path(config).read_text(encoding="utf-8"))
    return Classifier(sizes["widths"], 32 // sizes["pool"])
