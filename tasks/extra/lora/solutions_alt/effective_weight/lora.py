# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
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
        self.linear = nn.Linear(in_features, out_features, bias=bias)
        for parameter in self.linear.parameters():
            parameter.requires_grad = False
        self.lora_A = nn.Parameter(torch.empty(rank, in_features).normal_(std=rank**-0.5))
        self.lora_B = nn.Parameter(torch.empty(out_features, rank).fill_(0.0))
        self.rate = dropout
        self.rank, self.alpha = rank, alpha
        self.kept = None  # the base weight as it was, while the update is folded in

    def update(self) -> torch.Tensor:
        return torch.einsum("or,ri->oi", self.lora_B, self.lora_A) * (self.alpha / self.rank)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map (..., in_features) to (..., out_features)."""
        if self.kept is not None:
            return self.linear(x)
        if not (self.training and self.rate):
            return nn.functional.linear(x, self.linear.weight + self.update(), self.linear.bias)
        return self.linear(x) + nn.functional.linear(nn.functional.dropout(x, self.rate), self.update())

    def merge(self) -> None:
        """Fold the update into the base weight."""
        if self.kept is None:
            self.kept = self.linear.weight.detach().clone()
            self.linear.weight.data = self.kept + self.update().detach()

    def unmerge(self) -> None:
        """Take the update out of the base weight again."""
        if self.kept is not None:
            self.linear.weight.data = self.kept
            self.kept = None
