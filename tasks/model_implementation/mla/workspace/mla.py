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

    def forward(self, x: torch.Tensor, cache: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return outputs (batch, length, width) and the new cache (batch, past + length, latent_rank + rotary_width).

        `cache` is what an earlier call returned, for the positions before those of x.
        """
        raise NotImplementedError
