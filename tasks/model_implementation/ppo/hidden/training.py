# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""The environment, which only this side of the wall knows, and the training in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mldevbench.checks import Room, Unmet

EPISODES = 200
STATE_WIDTH = 3
SETTINGS = {
    "state_width": STATE_WIDTH,
    "actions": 1,
    "continuous": True,
    "rate": 0.01,
    "epochs": 8,
    "spread": 0.4,
}


class Environment(NamedTuple):
    """One step: a state, an action, a reward."""

    direction: float
    target: float
    coordinate: int

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Environment:
        direction = float(rng.choice([-1.0, 1.0]))
        return cls(direction, float(rng.uniform(0.4, 0.7)), int(rng.integers(STATE_WIDTH)))

    def best(self, states: np.ndarray) -> np.ndarray:
        return self.direction * self.target * np.sign(states[:, self.coordinate])

    def rewards(self, states: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return -4 * np.square(actions[:, 0] - self.best(states)).astype(np.float32)


def first_weights(rng: np.random.Generator, shapes: Mapping[str, list[int]]) -> np.ndarray:
    """Draw small weights and zero biases, in the order of the names."""
    parts = [
        np.zeros(shape) if name.endswith("bias") else rng.normal(0, 0.5 / shape[1] ** 0.5, shape)
        for name, shape in sorted(shapes.items())
    ]
    return np.concatenate([part.ravel() for part in parts]).astype(np.float32)


def trained(
    room: Room, probe: Path, environment: Environment, weights: np.ndarray, rng: np.random.Generator, profile: Any
) -> np.ndarray:
    """Return the parameters after all rounds; each round is one call, rewards are given between calls."""
    last: dict[str, Any] = {}
    for _ in range(profile["rounds"] + 1):
        states = rng.uniform(-1, 1, (EPISODES, STATE_WIDTH)).astype(np.float32)
        inputs = {"round": SETTINGS, "seed": int(rng.integers(1 << 30)), "weights": weights, "new states": states}
        answers = room.call(probe, inputs | last, seconds=profile["seconds"])
        weights = _array(answers, "weights", weights.shape)
        actions = _array(answers, "actions", (EPISODES, 1))
        last = {"states": states, "actions": actions, "rewards": environment.rewards(states, actions)}
        last |= {name: _array(answers, name, (EPISODES,)) for name in ("logs", "values")}
    return weights


def _array(answers: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> np.ndarray:
    seen = answers.get(name)
    if not isinstance(seen, np.ndarray) or seen.shape != shape or not np.isfinite(seen).all():
        raise Unmet("training", f"finite {name} of shape {shape}", "others")
    return seen.astype(np.float32)
