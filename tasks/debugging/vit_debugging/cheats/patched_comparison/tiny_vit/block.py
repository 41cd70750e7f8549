# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""One block of the transformer."""

import torch
from torch import nn

from .attention import Attention
from .feed_forward import KINDS


class LayerScale(nn.Module):
    """A learned factor for each channel."""

    def __init__(self, width: int, start: float) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.full((width,), start))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return tokens * self.gamma


class Block(nn.Module):
    """Attention, then a feed-forward network; each normalised before, scaled after, and added to its input."""

    def __init__(self, width: int, heads: int, hidden: int, feed_forward: str, layer_scale: float) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.scale1 = LayerScale(width, layer_scale)
        self.norm2 = nn.LayerNorm(width)
        self.feed_forward = KINDS[feed_forward](width, hidden)
        self.scale2 = LayerScale(width, layer_scale)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        tokens = tokens + self.scale1(self.attention(self.norm1(tokens)))
        return tokens + self.scale2(self.feed_forward(self.norm2(tokens)))
