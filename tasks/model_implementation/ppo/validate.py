# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare each part of the submitted PPO with a reference, and train it in an environment that it can't see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, at_most, check, close, equal, metric, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HIDDEN = Path(__file__).parent / "hidden"
MODULE = "ppo.py"
STEPS = 40
NUDGE, NUDGES = 3e-7, 4  # what single precision may be off by, and how often that is tried
STEADY = 0.001  # how far an update may be off by it, as a share of its largest change
TELLING = 0.1  # how far it must be off, so counted, where advantages are not divided by their spread
SMALL = 5e-3  # values that are all below this are compared as if one were as large: they may be next to nothing


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(MODULE, submission.has(MODULE), f"a file {MODULE}", "none")
    reference, training = plugin.load(HIDDEN / "reference.py"), plugin.load(HIDDEN / "training.py")
    rng = draw.rng("held-out cases")
    cases = [_case(rng, continuous) for continuous in (True, False)]
    inputs: dict[str, Any] = {"cases": cases, "seed": int(rng.integers(1 << 30))}
    given = [_steady_steps(reference, rng, case) for case in cases]
    for number, steps in enumerate(given):
        inputs |= {f"{name} {number}": value for name, value in steps.items()}
    with Room(submission, files=[MODULE]) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
        failed = False
        for number, (case, steps) in enumerate(zip(cases, given, strict=True)):
            own = {
                key.removesuffix(f" {number}"): value for key, value in answers.items() if key.endswith(f" {number}")
            }
            for made in _judge(reference, case, steps, own, profile):
                failed |= not made.passed
                yield made
        if not failed:  # a wrong part needs no further proof
            yield from _judge_training(reference, training, room, draw.rng("held-out environment"), profile)


def _case(rng: np.random.Generator, continuous: bool) -> dict[str, Any]:
    return {
        "state_width": int(rng.integers(3, 7)),
        "actions": int(rng.integers(2, 5)),
        "continuous": continuous,
        "rate": float(rng.uniform(0.002, 0.01)),
        "discount": float(rng.uniform(0.8, 0.98)),
        "trace": float(rng.uniform(0.7, 0.95)),
        "clip": float(rng.uniform(0.1, 0.3)),
        "epochs": int(rng.integers(3, 7)),
        "value_weight": float(rng.uniform(0.3, 0.8)),
        "entropy_weight": float(rng.uniform(0.05, 0.2)),
        "spread": float(rng.uniform(0.4, 0.8)),
    }


def _steady_steps(reference: Any, rng: np.random.Generator, case: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Draw steps whose update doesn't hang on the last digits: a ratio at its limit, a gradient near none.

    Adam takes away every factor of a gradient, so only the entropy's share tells whether advantages were divided; where
    the spread of actions is fixed, it has none.
    """
    while True:
        steps = _steps(reference, rng, case)
        weights = steps["weights"].astype(np.float64)
        change = reference.updated(case, steps["weights"], steps) - weights
        off = 0.0
        for _ in range(NUDGES):
            near = weights + rng.normal(0, NUDGE, weights.shape)
            nudged = {**steps, "logs": steps["logs"] + rng.normal(0, NUDGE, STEPS)}
            off = max(off, float(np.abs(reference.updated(case, near.copy(), nudged) - near - change).max()))
        other = reference.updated(case, steps["weights"], steps, divided=False) - weights
        tells = case["continuous"] or np.abs(other - change).max() > TELLING * np.abs(change).max()
        if tells and off < STEADY * np.abs(change).max():
            return steps


def _steps(reference: Any, rng: np.random.Generator, case: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Draw parameters and steps of several episodes; old log-probabilities lie on both sides of the limits."""
    import torch

    count = sum(int(np.prod(shape)) for shape in reference.shapes(case).values())
    weights = rng.normal(0, 0.5, count).astype(np.float32)
    states = rng.normal(size=(STEPS, case["state_width"])).astype(np.float32)
    drawn = rng.normal(size=(STEPS, case["actions"])).astype(np.float32)
    actions = drawn if case["continuous"] else rng.integers(0, case["actions"], STEPS)
    given = (torch.from_numpy(states).double(), torch.from_numpy(actions))
    logs = reference.evaluate(case, reference.cut(case, weights), *given)[0].detach().numpy()
    terminals = rng.random(STEPS) < 0.15
    terminals[[5, -1]] = True, False
    return {
        "weights": weights,
        "states": states,
        "actions": actions,
        "logs": (logs + rng.normal(0, 0.4, STEPS)).astype(np.float32),
        "rewards": rng.normal(0.5, 3, STEPS).astype(np.float32),
        "values": rng.normal(0, 1, STEPS).astype(np.float32),
        "terminals": terminals,
        "last": rng.normal(2, 1, 1).astype(np.float32),
        "last state": rng.normal(size=case["state_width"]).astype(np.float32),
        "gains": rng.normal(size=STEPS).astype(np.float32),
        "targets": rng.normal(size=STEPS).astype(np.float32),
        "pulls": rng.normal(size=(3, STEPS)).astype(np.float32),
    }


def _right(reference: Any, case: Mapping[str, Any], steps: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    import torch

    tensors = {name: torch.from_numpy(value) for name, value in steps.items() if value.dtype.kind in "fi"}
    doubles = {name: value.double() for name, value in tensors.items()}
    held = reference.cut(case, steps["weights"])
    found = reference.evaluate(case, held, doubles["states"], tensors["actions"])
    torch.stack([(one * pull).sum() for one, pull in zip(found, doubles["pulls"], strict=True)]).sum().backward()
    right = {name: one.detach().numpy() for name, one in zip(("logs", "values", "entropies"), found, strict=True)}
    right["evaluation gradients"] = reference.flat_gradients(held)
    lists = (steps[name].tolist() for name in ("rewards", "values", "terminals"))
    right["advantages"] = reference.advantages(case, *lists, float(steps["last"][0]))
    right["returns"] = right["advantages"] + steps["values"]
    held = reference.cut(case, steps["weights"])
    batch = [doubles[name] for name in ("states", "actions", "logs", "gains", "targets")]
    loss = reference.loss(case, held, batch)
    loss.backward()
    return right | {"loss": loss.detach().numpy().reshape(1), "loss gradients": reference.flat_gradients(held)}


def _judge(
    reference: Any,
    case: Mapping[str, Any],
    steps: Mapping[str, Any],
    seen: Mapping[str, Any],
    profile: Mapping[str, Any],
) -> Iterator[Check]:
    kind = "continuous" if case["continuous"] else "discrete"
    yield equal(f"parameters, {kind}", seen.get("shapes"), reference.shapes(case))
    for name, right in _right(reference, case, steps).items():
        yield _near(f"{name}, {kind}", seen.get(name), right, profile["tolerance"])
    before = steps["weights"].astype(np.float64)
    after: Any = seen.get("updated")
    yield require(f"update, {kind}", isinstance(after, np.ndarray) and after.shape == before.shape, "arrays", "none")
    change = reference.updated(case, steps["weights"], steps) - before
    yield _near(f"change by an update, {kind}", after - before, change, profile["update_tolerance"])
    yield equal(f"buffer after an update, {kind}", seen.get("left"), [0] * 6)
    yield from _judge_memory(reference, case, steps, seen, kind, profile["tolerance"])
    yield from _judge_draws(reference, case, steps, seen, kind)


def _near(name: str, seen: Any, right: np.ndarray, tolerance: float) -> Check:
    scale = max(float(np.abs(right).max()), SMALL)
    return close(name, seen / scale if isinstance(seen, np.ndarray) else seen, right / scale, tolerance=tolerance)


def _scored(
    reference: Any, case: Mapping[str, Any], weights: np.ndarray, states: np.ndarray, actions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    import torch

    given = (torch.from_numpy(states).double(), torch.from_numpy(actions).double())
    logs, values, _ = reference.evaluate(case, reference.cut(case, weights), *given)
    return logs.detach().numpy(), values.detach().numpy()


def _judge_memory(
    reference: Any,
    case: Mapping[str, Any],
    steps: Mapping[str, Any],
    seen: Mapping[str, Any],
    kind: str,
    tolerance: float,
) -> Iterator[Check]:
    """What was remembered must belong together: the action that was returned, its log-probability, its value."""
    states = steps["states"][:5]
    kept: Any = seen.get("kept actions")
    shape = (5, case["actions"]) if case["continuous"] else (5,)
    fits = isinstance(kept, np.ndarray) and kept.shape == shape and kept.dtype.kind == "f"
    fits = fits and (case["continuous"] or set(kept.tolist()) <= set(map(float, range(case["actions"]))))
    yield require(f"remembered actions, {kind}", fits, f"actions of shape {shape}", "others")
    logs, values = _scored(reference, case, steps["weights"], states, kept)
    yield _near(f"remembered states, {kind}", seen.get("kept states"), states, tolerance)
    yield _near(f"returned actions, {kind}", seen.get("chosen"), kept, tolerance)
    yield _near(f"remembered log-probabilities, {kind}", seen.get("kept logs"), logs, tolerance)
    yield _near(f"remembered values, {kind}", seen.get("kept values"), values, tolerance)
    yield equal(f"rewards and terminals left to the caller, {kind}", seen.get("kept others"), 0)


def _judge_draws(
    reference: Any, case: Mapping[str, Any], steps: Mapping[str, Any], seen: Mapping[str, Any], kind: str
) -> Iterator[Check]:
    import torch

    drawn: Any = seen.get("drawn")
    shape = (2000, case["actions"]) if case["continuous"] else (2000,)
    fits = isinstance(drawn, np.ndarray) and drawn.shape == shape and bool(np.isfinite(drawn).all())
    fits = fits and drawn.dtype.kind == ("f" if case["continuous"] else "i")
    fits = fits and (case["continuous"] or (drawn.min() >= 0 and drawn.max() < case["actions"]))
    yield require(f"drawn actions, {kind}", fits, f"actions of shape {shape}", "others")
    states = np.repeat(steps["states"][:1], 2000, axis=0)
    logs, values = _scored(reference, case, steps["weights"], states, drawn)
    yield _near(f"log-probabilities of drawn actions, {kind}", seen.get("drawn logs"), logs, 0.001)
    yield _near(f"values with drawn actions, {kind}", seen.get("drawn values"), values, 0.001)
    one = torch.from_numpy(states[:1]).double()
    made = reference.network(reference.cut(case, steps["weights"]), "actor", one)[0].detach()
    if case["continuous"]:
        yield at_most("means of drawn actions", float(np.abs(drawn.mean(0) - made.numpy()).max()), 0.1)
        yield at_most("spreads of drawn actions", float(np.abs(drawn.std(0) / case["spread"] - 1).max()), 0.15)
    else:
        shares = np.bincount(drawn, minlength=case["actions"]) / len(drawn)
        yield at_most("shares of drawn actions", float(np.abs(shares - made.softmax(-1).numpy()).max()), 0.1)


def _judge_training(
    reference: Any, training: Any, room: Room, rng: np.random.Generator, profile: Mapping[str, Any]
) -> Iterator[Check | Metric]:
    import torch

    environment = training.Environment.drawn(rng)
    settings = training.SETTINGS
    weights = training.first_weights(rng, reference.shapes(settings))
    weights = training.trained(room, HIDDEN / "probe.py", environment, weights, rng, profile)
    states = rng.uniform(-1, 1, (500, training.STATE_WIDTH)).astype(np.float32)
    states = states[np.abs(states[:, environment.coordinate]) >= 0.3]
    given = torch.from_numpy(states).double()
    means = reference.network(reference.cut(settings, weights), "actor", given)[:, 0].detach().numpy()
    miss = float(np.abs(means - environment.best(states)).mean()) / environment.target
    yield metric("miss", miss)
    yield at_most("distance from the best action", miss, profile["max_miss"], "mean distance, as a share of t,")
    yield check("training", bool(np.isfinite(means).all()), "finite means", "others")
