"""A linear layer with a frozen weight and a trainable update of low rank."""

import torch
from torch import nn


class LoRALinear(nn.Module):
    """Computes linear(x) plus a scaled product of two thin matrices."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        rank: int = 4,
        alpha: float = 8.0,
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        raise NotImplementedError

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map (..., in_features) to (..., out_features)."""
        raise NotImplementedError

    def merge(self) -> None:
        """Fold the update into the base weight."""
        raise NotImplementedError

    def unmerge(self) -> None:
        """Take the update out of the base weight again."""
        raise NotImplementedError
