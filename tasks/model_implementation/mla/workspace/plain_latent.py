"""Latent attention without positions: a worked relative of the class that is wanted in mla.py."""

import math

import torch
from torch import nn


class LatentAttention(nn.Module):
    """Causal attention whose cache holds one compressed vector per position, shared by all heads."""

    def __init__(self, width: int, heads: int, query_rank: int, latent_rank: int) -> None:
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.query_down = nn.Parameter(0.1 * torch.randn(width, query_rank))
        self.query_norm = nn.LayerNorm(query_rank)
        self.query_up = nn.Parameter(0.1 * torch.randn(query_rank, width))
        self.latent_down = nn.Parameter(0.1 * torch.randn(width, latent_rank))
        self.latent_norm = nn.LayerNorm(latent_rank)
        self.latent_up = nn.Parameter(0.1 * torch.randn(latent_rank, 2 * width))
        self.output = nn.Parameter(0.1 * torch.randn(width, width))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.head_width).transpose(1, 2)

    def forward(self, x, cache=None):
        """Return outputs (batch, length, width) and the new cache (batch, past + length, latent_rank)."""
        batch, length, width = x.shape
        queries = self.split(self.query_norm(x @ self.query_down) @ self.query_up)
        latent = x @ self.latent_down
        if cache is not None:
            latent = torch.cat([cache, latent], dim=1)  # raw: the norm comes after the cache
        keys, values = (self.latent_norm(latent) @ self.latent_up).split(width, dim=-1)
        keys, values = self.split(keys), self.split(values)
        past = latent.shape[1] - length
        later = torch.ones(length, past + length, dtype=torch.bool, device=x.device).triu(past + 1)
        scores = queries @ keys.transpose(-1, -2) / math.sqrt(self.head_width)
        weights = scores.masked_fill(later, float("-inf")).softmax(dim=-1)
        mixed = (weights @ values).transpose(1, 2).reshape(batch, length, width)
        return mixed @ self.output.T, latent
