# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The right policy, advantages, loss and update, in double precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

Arrays = dict[str, np.ndarray]
HIDDEN_WIDTH = 24


def shapes(case: Mapping[str, Any]) -> dict[str, list[int]]:
    named: dict[str, list[int]] = {}
    for network, width in (("actor", case["actions"]), ("critic", 1)):
        named |= {f"{network}.0.bias": [HIDDEN_WIDTH], f"{network}.0.weight": [HIDDEN_WIDTH, case["state_width"]]}
        named |= {f"{network}.2.bias": [width], f"{network}.2.weight": [width, HIDDEN_WIDTH]}
    return named


def cut(case: Mapping[str, Any], weights: np.ndarray) -> dict[str, torch.Tensor]:
    start, named = 0, {}
    for name, shape in shapes(case).items():
        count = int(np.prod(shape))
        named[name] = torch.from_numpy(weights[start : start + count].reshape(shape)).double().requires_grad_()
        start += count
    return named


def network(held: Mapping[str, torch.Tensor], name: str, states: torch.Tensor) -> torch.Tensor:
    inner = torch.tanh(states @ held[f"{name}.0.weight"].T + held[f"{name}.0.bias"])
    return inner @ held[f"{name}.2.weight"].T + held[f"{name}.2.bias"]


def evaluate(
    case: Mapping[str, Any], held: Mapping[str, torch.Tensor], states: torch.Tensor, actions: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    made, values = network(held, "actor", states), network(held, "critic", states)[:, 0]
    if case["continuous"]:
        constant = math.log(case["spread"] * math.sqrt(2 * math.pi))
        logs = -((actions - made) ** 2 / (2 * case["spread"] ** 2) + constant).sum(-1)
        return logs, values, torch.full_like(logs, case["actions"] * (constant + 0.5))
    table = torch.log_softmax(made, -1)
    return table[torch.arange(len(table)), actions.long()], values, -(table.exp() * table).sum(-1)


def advantages(
    case: Mapping[str, Any], rewards: Sequence[float], values: Sequence[float], terminals: Sequence[bool], last: float
) -> np.ndarray:
    found, after, following = [0.0] * len(rewards), 0.0, last
    for step in range(len(rewards) - 1, -1, -1):
        if terminals[step]:
            after, following = 0.0, 0.0
        after = rewards[step] + case["discount"] * (following + case["trace"] * after) - values[step]
        found[step], following = after, values[step]
    return np.array(found)


def loss(case: Mapping[str, Any], held: Mapping[str, torch.Tensor], batch: Sequence[torch.Tensor]) -> torch.Tensor:
    states, actions, old, gains, returns = batch
    logs, values, entropies = evaluate(case, held, states, actions)
    ratio = (logs - old).exp()
    limited = ratio.clamp(1 - case["clip"], 1 + case["clip"])
    policy = -torch.minimum(ratio * gains, limited * gains).mean()
    value = case["value_weight"] * ((values - returns) ** 2).mean()
    return policy + value - case["entropy_weight"] * entropies.mean()


def updated(case: Mapping[str, Any], weights: np.ndarray, steps: Mapping[str, Any], divided: bool = True) -> np.ndarray:
    """Return the flat parameters after one update; not `divided` by their spread, advantages are centred only."""
    held = cut(case, weights)
    last = network(held, "critic", torch.from_numpy(steps["last state"]).double()[None]).item()
    gains = advantages(case, steps["rewards"].tolist(), steps["values"].tolist(), steps["terminals"].tolist(), last)
    returns = torch.from_numpy(gains + steps["values"])
    gains = torch.from_numpy((gains - gains.mean()) / (gains.std() + 1e-8 if divided else 1.0))
    given = [torch.from_numpy(steps[name]).double() for name in ("states", "actions", "logs")]
    optimiser = torch.optim.Adam(list(held.values()), lr=case["rate"], eps=1e-5)
    for _ in range(case["epochs"]):
        optimiser.zero_grad()
        loss(case, held, [*given, gains, returns]).backward()
        optimiser.step()
    return torch.cat([value.detach().flatten() for value in held.values()]).numpy()


def flat_gradients(held: Mapping[str, torch.Tensor]) -> np.ndarray:
    return torch.cat([(v * 0 if v.grad is None else v.grad).flatten() for v in held.values()]).detach().numpy()
