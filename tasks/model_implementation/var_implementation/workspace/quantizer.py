"""A toy quantiser: codes of several scales add up to one feature map. Do not change this file."""

import torch
from torch import nn
from torch.nn.functional import interpolate


class Quantizer(nn.Module):
    """Knows the vectors of all codes, and how codes, features and pictures belong together."""

    def __init__(self, codes: int, code_width: int, scales: tuple[int, ...]) -> None:
        super().__init__()
        self.scales = tuple(scales)
        self.side = self.scales[-1]
        self.codebook = nn.Embedding(codes, code_width)
        self.smooth = nn.Conv2d(code_width, code_width, kernel_size=3, padding=1)
        self.decoder = nn.ConvTranspose2d(code_width, 3, kernel_size=4, stride=4)

    def empty(self, batch: int) -> torch.Tensor:
        """Return the feature map before the first scale: (batch, code_width, side, side)."""
        return self.codebook.weight.new_zeros(batch, self.codebook.embedding_dim, self.side, self.side)

    def add(self, features: torch.Tensor, codes: torch.Tensor, stage: int) -> torch.Tensor:
        """Return the feature map with the codes (batch, scale * scale) of one stage added."""
        scale = self.scales[stage]
        grid = self.codebook(codes).transpose(1, 2).unflatten(2, (scale, scale))
        grown = interpolate(grid, size=(self.side, self.side), mode="bilinear")
        return features + grown + 0.5 * self.smooth(grown)

    def inputs_for(self, features: torch.Tensor, stage: int) -> torch.Tensor:
        """Return what the transformer reads at a stage after the first: (batch, scale * scale, code_width)."""
        scale = self.scales[stage]
        return interpolate(features, size=(scale, scale), mode="area").flatten(2).transpose(1, 2)

    def teacher(self, codes: torch.Tensor) -> torch.Tensor:
        """Return the inputs of all stages after the first, one after the other, for known codes of all stages."""
        features, start, made = self.empty(len(codes)), 0, []
        for stage, scale in enumerate(self.scales[:-1]):
            features = self.add(features, codes[:, start : start + scale * scale], stage)
            made.append(self.inputs_for(features, stage + 1))
            start += scale * scale
        return torch.cat(made, dim=1)

    def decode(self, features: torch.Tensor) -> torch.Tensor:
        """Return pictures (batch, 3, 4 * side, 4 * side) with values from -1 to 1."""
        return torch.tanh(self.decoder(features))
