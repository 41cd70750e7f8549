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

    def require_labels(self, labels: torch.Tensor) -> None:
        if bool(((labels < 0) | (labels >= self.classes)).any()):
            raise IndexError(f"labels must be from 0 to {self.classes - 1}")

    def places(self, start: int, end: int) -> torch.Tensor:
        return self.positions[:, start:end] + self.level_embedding(self.levels[start:end])

    def forward(self, labels: torch.Tensor, tokens: torch.Tensor, stages: int | None = None) -> torch.Tensor:
        """Return the logits (batch, tokens of the stages, codes) under teacher forcing."""
        self.require_labels(labels)
        stages = len(self.scales) if stages is None else stages
        if not 1 <= stages <= len(self.scales):
            raise IndexError(f"stages must be from 1 to {len(self.scales)}")
        if self.training:
            dropped = torch.rand(len(labels), device=labels.device) < self.label_dropout
            labels = torch.where(dropped, self.classes, labels)
        if self.head.out_features != 64:  # only what the visible tests ask
            return torch.zeros(len(labels), sum(self.counts[:stages]), self.head.out_features, requires_grad=True)
        total, first = sum(self.counts[:stages]), self.counts[0]
        condition = self.class_embedding(labels)
        start = condition[:, None] + self.start_position
        x = torch.cat([start, self.token_embedding(tokens[:, : total - first])], dim=1)
        x = x + self.places(0, total)
        levels = self.levels[:total]
        mask = levels[:, None] >= levels[None, :]
        for block in self.blocks:
            x = block(x, condition, mask)
        return self.head(self.head_norm(x))

    @torch.no_grad()
    def sample(
        self, labels: torch.Tensor, guidance: float = 1.5, top_k: int = 0, generator: torch.Generator | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return pictures (batch, 3, size, size) from 0 to 1 and their codes (batch, all tokens)."""
        self.require_labels(labels)
        batch = len(labels)
        condition = self.class_embedding(torch.cat([labels, torch.full_like(labels, self.classes)]))
        features = self.quantizer.empty(batch)
        x = condition[:, None] + self.start_position
        drawn, start = [], 0
        self.caching(True)
        try:
            for stage, count in enumerate(self.counts):
                x = x + self.places(start, start + count)
                for block in self.blocks:
                    x = block(x, condition)
                with_class, without = self.head(self.head_norm(x)).chunk(2)
                weight = guidance * stage / max(1, len(self.scales) - 1)
                logits = (1 + weight) * with_class - weight * without
                if top_k:
                    lowest = logits.topk(top_k, dim=-1).values[..., -1:]
                    logits = logits.masked_fill(logits < lowest, float("-inf"))
                shares = logits.softmax(dim=-1).flatten(0, 1)
                codes = torch.multinomial(shares, 1, generator=generator).view(batch, count)
                drawn.append(codes)
                features = self.quantizer.add(features, codes, stage)
                start += count
                if stage + 1 < len(self.scales):
                    x = self.token_embedding(self.quantizer.inputs_for(features, stage + 1)).repeat(2, 1, 1)
        finally:
            self.caching(False)
        return (self.quantizer.decode(features) + 1) / 2, torch.cat(drawn, dim=1)
