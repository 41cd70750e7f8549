"""Pictures to patch tokens."""

import torch
from torch import nn

from .model import Size, to_pair


class PatchEmbed(nn.Module):
    """Cuts a picture into patches and projects each to a token.

    At call time another patch size may be asked for. The trained kernel is then resized to it (bilinear) and scaled by
    the ratio of the areas, so that an even surface gives the same token at every patch size.
    """

    def __init__(self, patch_size: Size, in_channels: int, width: int) -> None:
        super().__init__()
        self.patch_size = patch_size
        self.projection = nn.Conv2d(in_channels, width // 2, kernel_size=self.patch_size, stride=self.patch_size)

    def forward(self, images: torch.Tensor, patch_size: Size | None = None) -> torch.Tensor:
        """Return tokens (batch, patches, width), row after row."""
        size = self.patch_size if patch_size is None else to_pair(patch_size)
        height, width = images.shape[-2:]
        if height % size[0] or width % size[1]:
            raise ValueError(f"a picture of {height} x {width} can't be cut into patches of {size[0]} x {size[1]}")
        maps = self.projection(images)
        return maps.flatten(2).transpose(1, 2)
