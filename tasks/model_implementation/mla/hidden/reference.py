# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right answers, by explicit loops over batch rows, heads and positions where that is the plainest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

Arrays = dict[str, np.ndarray]


def shapes(sizes: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the shape of every parameter, in the order in which drawn weights are cut."""
    width, heads, rotary = sizes["width"], sizes["heads"], sizes["rotary_width"]
    query, latent = sizes["query_rank"], sizes["latent_rank"]
    return {
        "latent_down": [width, latent + rotary],
        "latent_norm.bias": [latent],
        "latent_norm.weight": [latent],
        "latent_up": [latent, width - heads * rotary + width],
        "output": [width, width],
        "query_down": [width, query],
        "query_norm.bias": [query],
        "query_norm.weight": [query],
        "query_up": [query, width],
    }


def cut(weights: np.ndarray, sizes: Mapping[str, int]) -> dict[str, torch.Tensor]:
    start, named = 0, {}
    for name, shape in shapes(sizes).items():
        count = int(np.prod(shape))
        named[name] = torch.from_numpy(weights[start : start + count].reshape(shape)).double().requires_grad_()
        start += count
    return named


def answers(case: Mapping[str, Any], weights: np.ndarray, x: np.ndarray, pull: np.ndarray, cache: Any) -> Arrays:
    """Return output, cache and all gradients of one call; `cache` is None or an array."""
    held = cut(weights, case)
    given = torch.from_numpy(x).double().requires_grad_()
    past = None if cache is None else torch.from_numpy(cache).double().requires_grad_()
    output, made = attend(case, held, given, past)
    both = torch.cat([output.flatten(), made.flatten()])
    (both * torch.from_numpy(pull).double()).sum().backward()
    found = {"output": output, "cache": made, "input gradients": given.grad}
    if past is not None:
        found["cache gradients"] = past.grad
    found["parameter gradients"] = torch.cat([_gradient(value).flatten() for value in held.values()])
    return {name: value.detach().numpy() for name, value in found.items() if value is not None}


def attend(
    case: Mapping[str, Any], held: Mapping[str, torch.Tensor], x: torch.Tensor, cache: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    heads, rotary, latent = case["heads"], case["rotary_width"], case["latent_rank"]
    head = case["width"] // heads
    plain = head - rotary
    rows = x @ held["latent_down"]
    made = rows if cache is None else torch.cat([cache, rows], dim=1)
    length, total = x.shape[1], made.shape[1]
    queries = _norm(x @ held["query_down"], held, "query_norm") @ held["query_up"]
    expanded = _norm(made[..., :latent], held, "latent_norm") @ held["latent_up"]
    shared = _turn(made[..., latent:], range(total))
    mixed = []
    for number in range(heads):
        query = queries[..., number * head : (number + 1) * head]
        query = torch.cat([query[..., :plain], _turn(query[..., plain:], range(total - length, total))], dim=-1)
        key = torch.cat([expanded[..., number * plain : (number + 1) * plain], shared], dim=-1)
        value = expanded[..., heads * plain + number * head : heads * plain + (number + 1) * head]
        steps = []
        for step in range(length):
            seen = total - length + step + 1
            scores = torch.einsum("bd,bkd->bk", query[:, step], key[:, :seen]) / head**0.5
            steps.append(torch.einsum("bk,bkd->bd", scores.softmax(-1), value[:, :seen]))
        mixed.append(torch.stack(steps, dim=1))
    return torch.cat(mixed, dim=-1) @ held["output"].T, made


def _norm(x: torch.Tensor, held: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    centred = x - x.mean(-1, keepdim=True)
    spread = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    return centred / spread * held[f"{name}.weight"] + held[f"{name}.bias"]


def _turn(x: torch.Tensor, positions: range) -> torch.Tensor:
    """Turn the pairs (i, i + half) of the last dimension by position times rate."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-torch.arange(half).double() * 2 / x.shape[-1])
    angles = torch.outer(torch.tensor(list(positions)).double(), rates)
    first, second = x[..., :half], x[..., half:]
    cosines, sines = angles.cos(), angles.sin()
    return torch.cat([first * cosines - second * sines, second * cosines + first * sines], dim=-1)


def _gradient(value: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(value) if value.grad is None else value.grad
