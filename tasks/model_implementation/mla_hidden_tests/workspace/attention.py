"""Ordinary multi-head attention with rotary positions and a full key-value cache, for comparison."""

import math

import torch
from torch import nn

from rotary import rotary_table, rotate


class RotaryAttention(nn.Module):
    """Causal attention that caches the keys and values of every head."""

    def __init__(self, width: int, heads: int, max_length: int = 256) -> None:
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.inputs = nn.Linear(width, 3 * width, bias=False)
        self.output = nn.Linear(width, width, bias=False)
        cosines, sines = rotary_table(max_length, self.head_width)
        self.register_buffer("cosines", cosines, persistent=False)
        self.register_buffer("sines", sines, persistent=False)

    def forward(self, x, cache=None):
        """Return outputs and the new cache (keys, values), each (batch, heads, positions, head_width)."""
        batch, length, width = x.shape
        past = 0 if cache is None else cache[0].shape[2]
        parts = self.inputs(x).view(batch, length, 3, self.heads, self.head_width).permute(2, 0, 3, 1, 4)
        queries, keys, values = parts.unbind(0)
        cosines, sines = self.cosines[past : past + length], self.sines[past : past + length]
        queries, keys = rotate(queries, cosines, sines), rotate(keys, cosines, sines)
        if cache is not None:
            keys, values = torch.cat([cache[0], keys], dim=2), torch.cat([cache[1], values], dim=2)
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(self.head_width)
        later = torch.ones(length, past + length, dtype=torch.bool, device=x.device).triu(past + 1)
        weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
        mixed = (weights @ values).transpose(1, 2).reshape(batch, length, width)
        return self.output(mixed), (keys, values)
