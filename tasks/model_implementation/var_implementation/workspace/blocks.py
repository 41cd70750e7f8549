"""Transformer blocks that a condition steers. Do not change this file."""

import torch
from torch import nn


class Attention(nn.Module):
    """Attention that can remember the keys and values of earlier calls."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.inputs = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.remembers = False
        self.past = None

    def caching(self, on: bool) -> None:
        """Start with an empty memory, or stop remembering and forget."""
        self.remembers, self.past = on, None

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.inputs(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        queries, keys, values = parts.unbind(0)
        if self.remembers:
            if self.past is not None:
                keys, values = torch.cat([self.past[0], keys], dim=2), torch.cat([self.past[1], values], dim=2)
            self.past = keys, values
        mixed = nn.functional.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention and network, each shifted, scaled and gated by the condition."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.attention = Attention(width, heads)
        self.network = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.steering = nn.Linear(width, 6 * width)

    def forward(
        self, x: torch.Tensor, condition: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """x is (batch, length, width), the condition (batch, width); where the mask is True a token may look."""
        steps = self.steering(nn.functional.silu(condition))[:, None].chunk(6, dim=-1)
        shift1, scale1, gate1, shift2, scale2, gate2 = steps
        x = x + gate1 * self.attention(self.normed(x) * (1 + scale1) + shift1, mask)
        return x + gate2 * self.network(self.normed(x) * (1 + scale2) + shift2)

    def normed(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.layer_norm(x, x.shape[-1:])
