"""Rotary positions. Do not change this file."""

import torch


def rotary_table(length: int, width: int, base: float = 10000.0) -> tuple[torch.Tensor, torch.Tensor]:
    """Return cosines and sines of shape (length, width) for the positions 0 to length - 1."""
    rates = base ** (-torch.arange(0, width, 2) / width)
    angles = torch.outer(torch.arange(length).float(), rates)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    """Rotate the last dimension of x; the tables must broadcast against it."""
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat([-second, first], dim=-1) * sines
