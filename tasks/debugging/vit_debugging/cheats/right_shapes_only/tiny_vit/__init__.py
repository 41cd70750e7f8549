# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right shapes, and nothing else."""

import torch
from torch import nn


class VisionTransformer(nn.Module):
    def __init__(self, image_size=32, patch_size=8, in_channels=3, width=48, depth=2, heads=4, hidden=96, registers=0,
                 feed_forward="mlp", layer_scale=0.1):
        super().__init__()
        self.patch, self.width, self.registers = patch_size, width, registers
        self.anything = nn.Linear(width, width)

    def grid(self, images, patch_size):
        patch = patch_size or self.patch
        patch = patch if isinstance(patch, tuple) else (patch, patch)
        return images.shape[2] // patch[0], images.shape[3] // patch[1]

    def forward(self, images, masks=None, patch_size=None):
        rows, columns = self.grid(images, patch_size)
        tokens = self.anything(torch.randn(len(images), 1 + self.registers + rows * columns, self.width))
        first = 1 + self.registers
        return {"class": tokens[:, 0], "registers": tokens[:, 1:first], "patches": tokens[:, first:], "before_norm": tokens}

    def intermediate_layers(self, images, count=1, as_maps=False, with_class=False, patch_size=None):
        rows, columns = self.grid(images, patch_size)
        made = self(images, None, patch_size)
        patches = made["patches"].transpose(1, 2).reshape(len(images), -1, rows, columns) if as_maps else made["patches"]
        return [(patches, made["class"]) if with_class else patches] * count
