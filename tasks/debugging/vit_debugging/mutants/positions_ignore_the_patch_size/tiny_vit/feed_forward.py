# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The two kinds of feed-forward network that a block may have."""

import torch
from torch import nn
from torch.nn import functional


class Mlp(nn.Module):
    """Two linear layers with a GELU between them."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.second(functional.gelu(self.first(tokens)))


class GatedMlp(nn.Module):
    """One half of the first layer, through SiLU, is the gate of the other half."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.both = nn.Linear(width, 2 * hidden)
        self.last = nn.Linear(hidden, width)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        gate, passed = self.both(tokens).chunk(2, dim=-1)
        return self.last(functional.silu(gate) * passed)


KINDS = {"mlp": Mlp, "gated": GatedMlp}
