# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Pictures to patch tokens, by unfolding."""

import torch
from torch import nn
from torch.nn import functional


def both(size):
    """Return a size as (height, width)."""
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))


class PatchEmbed(nn.Module):
    def __init__(self, patch_size, in_channels, width):
        super().__init__()
        self.patch_size = both(patch_size)
        self.projection = nn.Conv2d(in_channels, width, self.patch_size, self.patch_size)

    def forward(self, images, patch_size=None):
        size = both(patch_size or self.patch_size)
        batch, channels, height, width = images.shape
        rows, columns = height // size[0], width // size[1]
        cut = images.reshape(batch, channels, rows, size[0], columns, size[1])
        flat = cut.permute(0, 2, 4, 1, 3, 5).reshape(batch, rows * columns, -1)
        weight = self.projection.weight
        area = self.patch_size[0] * self.patch_size[1] / (size[0] * size[1])
        weight = functional.interpolate(weight, size=size, mode="bilinear", align_corners=False) * area
        return flat @ weight.flatten(1).T + self.projection.bias
