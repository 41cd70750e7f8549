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
        """Attend in the latent space: keys and values of single heads are never made."""
        batch, length, width = x.shape
        fresh = torch.einsum("blw,wr->blr", x, self.latent_down)
        cached = torch.cat([x.new_zeros(batch, 0, fresh.shape[-1]) if cache is None else cache, fresh], dim=1)
        total = cached.shape[1]
        places = torch.arange(total, device=x.device)
        asking = places[total - length :]

        latent = self.latent_norm(cached[..., : self.latent_rank])
        rotary = rotate(cached[..., self.latent_rank :], self.cosines[places], self.sines[places])
        edge = self.heads * self.plain_width
        key_up = self.latent_up[:, :edge].unflatten(1, (self.heads, self.plain_width))
        value_up = self.latent_up[:, edge:].unflatten(1, (self.heads, self.head_width))

        queries = (self.query_norm(x @ self.query_down) @ self.query_up).unflatten(2, (self.heads, self.head_width))
        turned = rotate(
            queries[..., self.plain_width :], self.cosines[asking][:, None], self.sines[asking][:, None]
        )
        in_latent = torch.einsum("blhp,rhp->bhlr", queries[..., : self.plain_width], key_up)
        scores = torch.einsum("bhlr,btr->bhlt", in_latent, latent) + torch.einsum("blhd,btd->bhlt", turned, rotary)
        scores = scores * self.head_width**-0.5
        allowed = places[None, :] <= asking[:, None]
        weights = torch.where(allowed, scores, scores.new_tensor(float("-inf"))).softmax(-1)
        mixed = torch.einsum("bhlt,btr,rhd->blhd", weights, latent, value_up).flatten(2)
        return nn.functional.linear(mixed, self.output), cached
