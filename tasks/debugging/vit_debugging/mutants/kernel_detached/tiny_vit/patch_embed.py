# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Pictures to patch tokens."""

import torch
from torch import nn
from torch.nn import functional

from .pairs import Size, to_pair


class PatchEmbed(nn.Module):
    """Cuts a picture into patches and projects each to a token.

    At call time another patch size may be asked for. The trained kernel is then resized to it (bilinear) and scaled by
    the ratio of the areas, so that an even surface gives the same token at every patch size.
    """

    def __init__(self, patch_size: Size, in_channels: int, width: int) -> None:
        super().__init__()
        self.patch_size = to_pair(patch_size)
        self.projection = nn.Conv2d(in_channels, width, kernel_size=self.patch_size, stride=self.patch_size)

    def kernel(self, size: tuple[int, int]) -> torch.Tensor:
        """Return the kernel for patches of another size."""
        native = self.patch_size
        if size == native:
            return self.projection.weight
        resized = functional.interpolate(self.projection.weight.detach(), size=size, mode="bilinear", align_corners=False)
        return resized * (native[0] * native[1] / (size[0] * size[1]))

    def forward(self, images: torch.Tensor, patch_size: Size | None = None) -> torch.Tensor:
        """Return tokens (batch, patches, width), row after row."""
        size = self.patch_size if patch_size is None else to_pair(patch_size)
        height, width = images.shape[-2:]
        if height % size[0] or width % size[1]:
            raise ValueError(f"a picture of {height} x {width} can't be cut into patches of {size[0]} x {size[1]}")
        maps = functional.conv2d(images, self.kernel(size), self.projection.bias, stride=size)
        return maps.flatten(2).transpose(1, 2)
