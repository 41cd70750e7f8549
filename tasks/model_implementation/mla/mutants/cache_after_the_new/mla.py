# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Multi-head latent attention with decoupled rotary positions and a compressed cache."""

import math

import torch
from torch import nn

from rotary import rotary_table, rotate


class RotaryLatentAttention(nn.Module):
    """Causal attention; the cache holds a raw latent and a raw rotary key per position, shared by all heads."""

    def __init__(
        self,
        width: int,
        heads: int,
        query_rank: int,
        latent_rank: int,
        rotary_width: int,
        max_length: int = 256,
    ) -> None:
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.rotary_width = rotary_width
        self.plain_width = self.head_width - rotary_width
        self.latent_rank = latent_rank
        self.query_down = nn.Parameter(0.1 * torch.randn(width, query_rank))
        self.query_norm = nn.LayerNorm(query_rank)
        self.query_up = nn.Parameter(0.1 * torch.randn(query_rank, width))
        self.latent_down = nn.Parameter(0.1 * torch.randn(width, latent_rank + rotary_width))
        self.latent_norm = nn.LayerNorm(latent_rank)
        self.latent_up = nn.Parameter(0.1 * torch.randn(latent_rank, heads * self.plain_width + width))
        self.output = nn.Parameter(0.1 * torch.randn(width, width))
        cosines, sines = rotary_table(max_length, rotary_width)
        self.register_buffer("cosines", cosines, persistent=False)
        self.register_buffer("sines", sines, persistent=False)

    def split(self, x: torch.Tensor, width: int) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], self.heads, width).transpose(1, 2)

    def forward(self, x: torch.Tensor, cache: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return outputs (batch, length, width) and the new cache (batch, past + length, latent_rank + rotary_width).

        `cache` is what an earlier call returned, for the positions before those of x.
        """
        batch, length, width = x.shape
        past = 0 if cache is None else cache.shape[1]
        total = past + length
        compressed = self.query_norm(x @ self.query_down)
        queries = self.split(compressed @ self.query_up, self.head_width)
        query_plain, query_rotary = queries.split([self.plain_width, self.rotary_width], dim=-1)
        query_rotary = rotate(query_rotary, self.cosines[past:total], self.sines[past:total])

        fresh = x @ self.latent_down
        cached = fresh if cache is None else torch.cat([fresh, cache], dim=1)
        latent, key_rotary = cached.split([self.latent_rank, self.rotary_width], dim=-1)
        normed = self.latent_norm(latent)
        keys, values = (normed @ self.latent_up).split([self.heads * self.plain_width, width], dim=-1)
        key_plain, values = self.split(keys, self.plain_width), self.split(values, self.head_width)
        key_rotary = rotate(key_rotary, self.cosines[:total], self.sines[:total])
        key_rotary = key_rotary[:, None].expand(-1, self.heads, -1, -1)

        queries = torch.cat([query_plain, query_rotary], dim=-1)
        keys = torch.cat([key_plain, key_rotary], dim=-1)
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(self.head_width)
        later = torch.ones(length, total, dtype=torch.bool, device=x.device).triu(past + 1)
        weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
        mixed = (weights @ values).transpose(1, 2).reshape(batch, length, width)
        return mixed @ self.output.T, cached
