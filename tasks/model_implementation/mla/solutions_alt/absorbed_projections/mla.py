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
        up = self.latent_up.weight.unflatten(0, (self.heads, self.content + self.value))
        queries = self.query_up(self.query_norm(self.query_down(inputs))).unflatten(-1, (self.heads, -1))
        # The keys are never expanded: each query meets the latent itself.
        inner = torch.einsum("bthc,hcl->bthl", queries[..., : self.content], up[:, : self.content])
        latent = self.latent_norm(cache[..., : self.latent])
        left = torch.cat([inner, rotate(queries[..., self.content :], torch.arange(start, end)[:, None])], dim=-1)
        right = torch.cat([latent, rotate(cache[..., self.latent :], torch.arange(end))], dim=-1)
        scores = torch.einsum("bthl,bsl->bhts", left, right) * (self.content + self.rotary) ** -0.5
        seen = torch.ones(inputs.shape[1], end, dtype=torch.bool).tril(diagonal=start)
        shares = scores.where(seen, scores.new_tensor(float("-inf"))).softmax(dim=-1)
        mixed = torch.einsum("bhts,bsl,hvl->bthv", shares, latent, up[:, self.content :])
        return self.output(mixed.flatten(2)), cache
