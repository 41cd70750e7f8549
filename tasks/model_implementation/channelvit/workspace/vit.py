"""A small vision transformer. Do not change this file."""

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        parts = self.inputs(x).view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(*parts.unbind(0))
        return self.output(mixed.transpose(1, 2).reshape(batch, tokens, width))


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.network = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.network(self.norm2(x))


class PatchEmbedding(nn.Module):
    """One token per patch, made from all channels at once."""

    def __init__(self, patch_size: int, channels: int, width: int) -> None:
        super().__init__()
        self.projection = nn.Conv2d(channels, width, kernel_size=patch_size, stride=patch_size)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.projection(images).flatten(2).transpose(1, 2)


class VisionTransformer(nn.Module):
    """Class token, patch tokens, positions, blocks, norm."""

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
        self.patch_embedding = PatchEmbedding(patch_size, channels, width)
        self.class_token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        self.positions = nn.Parameter(0.02 * torch.randn(1, 1 + (image_size // patch_size) ** 2, width))
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)

    def prepare_tokens(self, images: torch.Tensor) -> torch.Tensor:
        patches = self.patch_embedding(images)
        first = self.class_token.expand(len(images), -1, -1)
        return self.dropout(torch.cat([first, patches], dim=1) + self.positions)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        tokens = self.prepare_tokens(images)
        for block in self.blocks:
            tokens = block(tokens)
        return self.norm(tokens)
