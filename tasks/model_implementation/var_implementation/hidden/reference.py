# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right model: one forward pass per question, no memory, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

Arrays = dict[str, np.ndarray]
Rising = Callable[[int, int], float]


def evenly(stage: int, stages: int) -> float:
    """Return the share of the guidance at a stage: none at the first, all of it at the last."""
    return stage / (stages - 1)


class Model(torch.nn.Module):
    """The same parts under the same names, made from the given files."""

    def __init__(self, blocks: Any, quantizer: Any, sizes: Mapping[str, Any]) -> None:
        super().__init__()
        width, self.scales, self.classes = sizes["width"], tuple(sizes["scales"]), sizes["classes"]
        self.counts = [scale * scale for scale in self.scales]
        self.quantizer = quantizer.Quantizer(sizes["codes"], sizes["code_width"], self.scales)
        self.class_embedding = torch.nn.Embedding(self.classes + 1, width)
        self.start_position = torch.nn.Parameter(torch.empty(1, self.counts[0], width))
        self.token_embedding = torch.nn.Linear(sizes["code_width"], width)
        self.positions = torch.nn.Parameter(torch.empty(1, sum(self.counts), width))
        self.level_embedding = torch.nn.Embedding(len(self.scales), width)
        self.blocks = torch.nn.ModuleList([blocks.Block(width, sizes["heads"]) for _ in range(sizes["depth"])])
        self.head_norm = torch.nn.LayerNorm(width)
        self.head = torch.nn.Linear(width, sizes["codes"])
        self.double()

    def fill(self, weights: np.ndarray) -> None:
        start = 0
        with torch.no_grad():
            for _, value in sorted(self.named_parameters()):
                part = torch.from_numpy(weights[start : start + value.numel()].astype(np.float64))
                value.copy_(part.reshape(value.shape))
                start += value.numel()

    def logits(self, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return logits of as many stages as there are tokens for; a row equal to `classes` is no class."""
        condition = self.class_embedding(rows)
        x = torch.cat([condition[:, None] + self.start_position, self.token_embedding(tokens)], dim=1)
        stage_of = torch.tensor([stage for stage, count in enumerate(self.counts) for _ in range(count)])[: x.shape[1]]
        x = x + self.positions[:, : x.shape[1]] + self.level_embedding(stage_of)
        mask = stage_of[:, None] >= stage_of
        for block in self.blocks:
            x = block(x, condition, mask)
        return self.head(self.head_norm(x))

    def answers(self, labels: np.ndarray, tokens: np.ndarray, stages: int, pull: np.ndarray) -> Arrays:
        given = torch.from_numpy(tokens).double().requires_grad_()
        self.zero_grad()
        used = sum(self.counts[1:stages])
        logits = self.logits(torch.from_numpy(labels), given[:, :used])
        (logits * torch.from_numpy(pull).double()).sum().backward()
        assert given.grad is not None
        return {
            "logits": logits.detach().numpy(),
            "token gradients": given.grad.numpy(),
            "gradients": self._gradients(),
        }

    def _gradients(self) -> np.ndarray:
        values = [value for _, value in sorted(self.named_parameters())]
        return torch.cat([(v * 0 if v.grad is None else v.grad).flatten() for v in values]).detach().numpy()

    @torch.no_grad()
    def likeliest(self, labels: np.ndarray, guidance: float, rising: Rising = evenly) -> tuple[Arrays, float]:
        """Return codes and pictures for top_k=1, and how near the closest decision was."""
        rows = torch.from_numpy(labels)
        features, gap, codes = self.quantizer.empty(len(rows)), float("inf"), []
        inputs = features.new_zeros(len(rows), 0, features.shape[1])
        for stage in range(len(self.counts)):
            mixed = self._mixed(rows, inputs, stage, guidance * rising(stage, len(self.counts)))
            best = mixed.topk(2, dim=-1)
            gap = min(gap, float((best.values[..., 0] - best.values[..., 1]).min() / mixed.abs().max()))
            codes.append(best.indices[..., 0])
            features = self.quantizer.add(features, codes[-1], stage)
            if stage + 1 < len(self.counts):
                inputs = torch.cat([inputs, self.quantizer.inputs_for(features, stage + 1)], dim=1)
        pictures = (self.quantizer.decode(features) + 1) / 2
        return {"codes": torch.cat(codes, dim=1).numpy(), "pictures": pictures.numpy()}, gap

    @torch.no_grad()
    def shares(self, labels: np.ndarray, codes: np.ndarray, guidance: float, top_k: int) -> np.ndarray:
        """Return the probabilities of every token's codes, given those that were drawn at earlier stages."""
        rows, features = torch.from_numpy(labels), self.quantizer.empty(len(labels))
        inputs = features.new_zeros(len(rows), 0, features.shape[1])
        found, start = [], 0
        for stage, count in enumerate(self.counts):
            mixed = self._mixed(rows, inputs, stage, guidance * evenly(stage, len(self.counts)))
            if top_k:
                mixed = mixed.masked_fill(mixed < mixed.topk(top_k, dim=-1).values[..., -1:], float("-inf"))
            found.append(mixed.softmax(dim=-1))
            drawn = torch.from_numpy(codes[:, start : start + count].astype(np.int64))
            features, start = self.quantizer.add(features, drawn, stage), start + count
            if stage + 1 < len(self.counts):
                inputs = torch.cat([inputs, self.quantizer.inputs_for(features, stage + 1)], dim=1)
        return torch.cat(found, dim=1).numpy()

    def _mixed(self, rows: torch.Tensor, inputs: torch.Tensor, stage: int, weight: float) -> torch.Tensor:
        """Return the guided logits of a stage's tokens."""
        with_class = self.logits(rows, inputs)[:, -self.counts[stage] :]
        without = self.logits(torch.full_like(rows, self.classes), inputs)[:, -self.counts[stage] :]
        return (1 + weight) * with_class - weight * without
