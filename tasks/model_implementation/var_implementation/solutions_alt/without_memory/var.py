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

    def run(self, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits for rows of the class embedding and as many stages as there are tokens."""
        condition = self.class_embedding.weight[rows]
        start = condition.unsqueeze(1) + self.start_position
        x = torch.cat((start, self.token_embedding(tokens)), dim=1)
        length = x.shape[1]
        level = self.levels[:length]
        x = x + self.positions[:, :length] + self.level_embedding.weight[level]
        hidden = torch.zeros(length, length).masked_fill(level[None] > level[:, None], float("-inf"))
        for block in self.blocks:
            x = block(x, condition, hidden)
        return self.head(self.head_norm(x))

    def forward(self, labels: torch.Tensor, tokens: torch.Tensor, stages: int | None = None) -> torch.Tensor:
        """Return the logits (batch, tokens of the stages, codes) under teacher forcing."""
        if labels.min() < 0 or labels.max() >= self.classes:
            raise IndexError("no such class")
        if stages is not None and stages not in range(1, len(self.scales) + 1):
            raise IndexError("no such stage")
        if self.training:
            keep = torch.bernoulli(torch.full(labels.shape, 1 - self.label_dropout)).bool()
            labels = labels.masked_fill(~keep, self.classes)
        used = sum(self.counts[1:stages])
        return self.run(labels, tokens[:, :used])

    @torch.no_grad()
    def sample(
        self, labels: torch.Tensor, guidance: float = 1.5, top_k: int = 0, generator: torch.Generator | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return pictures (batch, 3, size, size) from 0 to 1 and their codes (batch, all tokens)."""
        # Every stage reads all stages before it anew: slower than with a memory, and the same.
        if labels.min() < 0 or labels.max() >= self.classes:
            raise IndexError("no such class")
        features, codes = self.quantizer.empty(len(labels)), []
        inputs = features.new_zeros(len(labels), 0, features.shape[1])
        nothing = torch.full_like(labels, self.classes)
        for stage, count in enumerate(self.counts):
            share = guidance * stage / (len(self.counts) - 1)
            seen, blind = self.run(labels, inputs)[:, -count:], self.run(nothing, inputs)[:, -count:]
            logits = seen + share * (seen - blind)
            best = logits.topk(top_k or logits.shape[-1], dim=-1)
            places = torch.multinomial(best.values.softmax(-1).flatten(0, 1), 1, generator=generator)
            codes.append(best.indices.flatten(0, 1).gather(1, places).view(len(labels), count))
            features = self.quantizer.add(features, codes[-1], stage)
            if stage < len(self.counts) - 1:
                inputs = torch.cat([inputs, self.quantizer.inputs_for(features, stage + 1)], dim=1)
        return self.quantizer.decode(features).add(1).div(2), torch.cat(codes, dim=1)
