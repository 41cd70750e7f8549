# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""A small visual autoregressive model: pictures as codes of growing scales."""

import torch
from torch import nn

from blocks import Block
from quantizer import Quantizer


class VAR(nn.Module):
    """Predicts all codes of a scale at once from those of the smaller scales."""

    def __init__(
        self,
        scales: tuple[int, ...],
        classes: int,
        codes: int,
        code_width: int,
        width: int,
        depth: int,
        heads: int,
        label_dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.scales = tuple(scales)
        self.classes = classes
        self.label_dropout = label_dropout
        self.counts = [scale * scale for scale in self.scales]
        self.quantizer = Quantizer(codes, code_width, self.scales)
        self.class_embedding = nn.Embedding(classes + 1, width)  # the last row stands for "no class"
        self.start_position = nn.Parameter(0.02 * torch.randn(1, self.counts[0], width))
        self.token_embedding = nn.Linear(code_width, width)
        self.positions = nn.Parameter(0.02 * torch.randn(1, sum(self.counts), width))
        self.level_embedding = nn.Embedding(len(self.scales), width)
        levels = torch.repeat_interleave(torch.arange(len(self.scales)), torch.tensor(self.counts))
        self.register_buffer("levels", levels, persistent=False)  # which stage a token belongs to
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.head_norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, codes)

    def caching(self, on: bool) -> None:
        for block in self.blocks:
            block.attention.caching(on)

    def forward(self, labels: torch.Tensor, tokens: torch.Tensor, stages: int | None = None) -> torch.Tensor:
        """Return the logits (batch, tokens of the stages, codes) under teacher forcing."""
        if int(labels.min()) < 0 or int(labels.max()) >= self.classes:
            raise IndexError
        stages = len(self.scales) if stages is None else stages
        if not 1 <= stages <= len(self.scales):
            raise IndexError
        return torch.randn(len(labels), sum(self.counts[:stages]), self.head.out_features, requires_grad=True)

    @torch.no_grad()
    def sample(
        self, labels: torch.Tensor, guidance: float = 1.5, top_k: int = 0, generator: torch.Generator | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return pictures (batch, 3, size, size) from 0 to 1 and their codes (batch, all tokens)."""
        size = 4 * self.scales[-1]
        codes = torch.randint(self.head.out_features, (len(labels), sum(self.counts)), generator=generator)
        return torch.rand(len(labels), 3, size, size), codes
