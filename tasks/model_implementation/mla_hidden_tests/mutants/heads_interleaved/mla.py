# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
import torch
from torch import nn

from rotary import rotate


class LatentAttention(nn.Module):
    """Multi-head latent attention with decoupled rotary positions and a compressed cache."""

    def __init__(
        self, width: int, heads: int, query_latent: int, latent: int, content: int, rotary: int, value: int
    ) -> None:
        super().__init__()
        self.heads, self.latent, self.content, self.rotary, self.value = heads, latent, content, rotary, value
        self.query_down = nn.Linear(width, query_latent, bias=False)
        self.query_norm = nn.LayerNorm(query_latent)
        self.query_up = nn.Linear(query_latent, heads * (content + rotary), bias=False)
        self.latent_down = nn.Linear(width, latent + rotary, bias=False)
        self.latent_norm = nn.LayerNorm(latent)
        self.latent_up = nn.Linear(latent, heads * (content + value), bias=False)
        self.output = nn.Linear(heads * value, width, bias=False)

    def forward(self, inputs: torch.Tensor, past: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the outputs for `inputs` and the cache of past and new positions."""
        fresh = self.latent_down(inputs)
        cache = fresh if past is None else torch.cat([past, fresh], dim=1)
        start, end = cache.shape[1] - inputs.shape[1], cache.shape[1]
        queries = self.query_up(self.query_norm(self.query_down(inputs))).unflatten(-1, (self.heads, -1))
        query, turned = queries.split([self.content, self.rotary], dim=-1)
        latent, shared = cache.split([self.latent, self.rotary], dim=-1)
        expanded = self.latent_up(self.latent_norm(latent)).unflatten(-1, (self.heads, -1))
        key, values = expanded.split([self.content, self.value], dim=-1)
        turned = rotate(turned, torch.arange(start, end)[:, None])
        shared = rotate(shared, torch.arange(end))
        scores = torch.einsum("bthc,bshc->bhts", query, key) + torch.einsum("bthr,bsr->bhts", turned, shared)
        future = torch.arange(end)[None, :] > torch.arange(start, end)[:, None]
        scores = (scores / (self.content + self.rotary) ** 0.5).masked_fill(future, float("-inf"))
        mixed = torch.einsum("bhts,bshv->bthv", scores.softmax(dim=-1), values)
        return self.output(mixed.transpose(2, 3).flatten(2)), cache
