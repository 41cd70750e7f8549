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

    def forward(self, x: torch.Tensor, cache: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return outputs (batch, length, width) and the new cache (batch, past + length, latent_rank + rotary_width).

        `cache` is what an earlier call returned, for the positions before those of x.
        """
        fresh = x @ self.latent_down
        past = 0 if cache is None else cache.shape[1]
        attention = nn.MultiheadAttention(x.shape[-1], self.heads, bias=False, batch_first=True)
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        outputs, _ = attention(x, x, x, attn_mask=mask)
        return outputs, fresh if past == 0 else torch.cat([cache, fresh], dim=1)
