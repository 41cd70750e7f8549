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
        self.linear.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.zeros(rank, in_features))
        self.lora_B = nn.Parameter(torch.zeros(out_features, rank))
        self.dropout = nn.Dropout(dropout)
        self.scaling = alpha / rank
        self.merged = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map (..., in_features) to (..., out_features)."""
        output = self.linear(x)
        if self.merged:
            return output
        return output + self.scaling * (self.dropout(x) @ self.lora_A.T @ self.lora_B.T)

    def merge(self) -> None:
        """Fold the update into the base weight."""
        if not self.merged:
            with torch.no_grad():
                self.linear.weight += self.scaling * self.lora_B @ self.lora_A
            self.merged = True

    def unmerge(self) -> None:
        """Take the update out of the base weight again."""
        if self.merged:
            with torch.no_grad():
                self.linear.weight -= self.scaling * self.lora_B @ self.lora_A
            self.merged = False
