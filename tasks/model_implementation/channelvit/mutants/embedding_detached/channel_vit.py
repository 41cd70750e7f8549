# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""ChannelViT: one token per patch and channel."""

import torch
from torch import nn

from vit import Block


class ChannelPatchEmbedding(nn.Module):
    """One token per patch and channel, from a projection that all channels share."""

    def __init__(self, patch_size: int, channels: int, width: int) -> None:
        super().__init__()
        self.projection = nn.Conv2d(1, width, kernel_size=patch_size, stride=patch_size)
        self.channel_embedding = nn.Embedding(channels, width)

    def forward(self, images: torch.Tensor, channel_indices: torch.Tensor) -> torch.Tensor:
        """Return tokens (batch, given channels * patches, width) of pictures (batch, given channels, size, size)."""
        batch, given = images.shape[:2]
        patches = self.projection(images.flatten(0, 1)[:, None]).flatten(2).transpose(1, 2)
        patches = patches.unflatten(0, (batch, given))
        named = patches + self.channel_embedding(channel_indices).detach()[:, :, None]
        return named.flatten(1, 2)


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
        patches = self.patch_embedding(images, channel_indices)
        first = self.class_token + self.positions[:, :1]
        places = self.positions[:, 1:].repeat(1, images.shape[1], 1)
        tokens = torch.cat([first.expand(len(images), -1, -1), patches + places], dim=1)
        return self.dropout(tokens)

    def forward(self, images: torch.Tensor, channel_indices: torch.Tensor | None = None) -> torch.Tensor:
        """Return all tokens; without indices the pictures have all channels in order."""
        if channel_indices is None:
            channel_indices = torch.arange(self.channels, device=images.device).expand(len(images), -1)
        tokens = self.prepare_tokens(images, channel_indices)
        for block in self.blocks:
            tokens = block(tokens)
        return self.norm(tokens)
