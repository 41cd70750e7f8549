"""ChannelViT: one token per patch and channel."""

import torch
from torch import nn

from vit import Block


class ChannelPatchEmbedding(nn.Module):
    """One token per patch and channel, from a projection that all channels share."""

    def __init__(self, patch_size: int, channels: int, width: int) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, images: torch.Tensor, channel_indices: torch.Tensor) -> torch.Tensor:
        """Return tokens (batch, given channels * patches, width) of pictures (batch, given channels, size, size)."""
        raise NotImplementedError


class ChannelViT(nn.Module):
    """A vision transformer that takes any channels of its pictures as tokens of their own."""

    def __init__(
        self,
        image_size: int,
        patch_size: int,
        channels: int,
        width: int,
        depth: int,
        heads: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.channels = channels
        self.patch_embedding = ChannelPatchEmbedding(patch_size, channels, width)
        self.class_token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, 1 + (image_size // patch_size) ** 2, width))
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def prepare_tokens(self, images: torch.Tensor, channel_indices: torch.Tensor) -> torch.Tensor:
        """Return what enters the first block: (batch, 1 + given channels * patches, width)."""
        raise NotImplementedError

    def forward(self, images: torch.Tensor, channel_indices: torch.Tensor | None = None) -> torch.Tensor:
        """Return all tokens; without indices the pictures have all channels in order."""
        if channel_indices is None:
            channel_indices = torch.arange(self.channels, device=images.device).expand(len(images), -1)
        tokens = self.prepare_tokens(images, channel_indices)
        for block in self.blocks:
            tokens = block(tokens)
        return self.norm(tokens)
