# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the submitted layer with closed forms for sizes, weights and inputs drawn after submission."""

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
MODULE = "lora.py"
STEPS = 400
MERGED = (False, True, True, False, False)  # after unmerge, merge, merge, unmerge, unmerge


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(MODULE, submission.has(MODULE), f"a file {MODULE}", "none")
    reference = plugin.load(HIDDEN / "reference.py")
    rng = draw.rng("held-out cases")
    inputs = _inputs(reference, rng, profile)
    target = _draw_training(inputs, rng, profile["target_rank"])
    with Room(submission, files=[MODULE]) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    for number, case in enumerate(inputs["cases"]):
        yield from _judge_case(reference, case, number, inputs, answers, profile["tolerance"])
    yield from _judge_beginning(inputs["fresh"]["rank"], answers)
    yield from _judge_dropout(reference, inputs, answers, profile["tolerance"])
    yield from _judge_training(inputs, target, answers, profile)


def _inputs(reference: Any, rng: np.random.Generator, profile: Mapping[str, Any]) -> dict[str, Any]:
    cases = [_case(rng, bias=number % 2 == 0) for number in range(profile["cases"])]
    fresh = {"in_features": 400, "out_features": 3, "rank": int(rng.integers(6, 12))}
    side = int(rng.integers(20, 30))
    # As many rows as columns and more: so what entered the update can be read off its outputs.
    wide = {"in_features": side, "out_features": 2 * side, "rank": 2 * side, "alpha": 2.0 * side, "bias": True}
    inputs: dict[str, Any] = {"cases": cases, "fresh": fresh, "wide": wide, "seed": int(rng.integers(1 << 30))}
    for number, case in enumerate(cases):
        inputs[f"weights {number}"] = _weights(reference, rng, case)
        for dimensions in range(1, 5):
            leading = tuple(int(size) for size in rng.integers(2, 5, dimensions - 1))
            inputs[f"x {dimensions} {number}"] = _normal(rng, *leading, case["in_features"])
            inputs[f"pull {dimensions} {number}"] = _normal(rng, *leading, case["out_features"])
    inputs["wide weights"] = _weights(reference, rng, wide)
    inputs["wide x"] = _normal(rng, 40, side) + np.float32(4)  # away from zero
    return inputs


def _case(rng: np.random.Generator, bias: bool) -> dict[str, Any]:
    inside, outside = (int(size) for size in rng.choice(np.arange(9, 40), 2, replace=False))
    rank = int(rng.integers(2, 8))
    return {
        "in_features": inside,
        "out_features": outside,
        "rank": rank,
        "alpha": float(np.round(rng.uniform(2.0, 20.0) + 0.25, 2)),
        "bias": bias,
    }


def _weights(reference: Any, rng: np.random.Generator, case: Mapping[str, Any]) -> np.ndarray:
    return 0.5 * _normal(rng, sum(int(np.prod(shape)) for shape in reference.shapes(case).values()))


def _normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.normal(size=shape).astype(np.float32)


def _draw_training(inputs: dict[str, Any], rng: np.random.Generator, rank: int) -> dict[str, np.ndarray]:
    """Draw a base weight and a low-rank change of it; return what is to be met on held-out inputs."""
    inside, outside = int(rng.integers(16, 24)), int(rng.integers(10, 15))
    inputs["learner"] = {"in_features": inside, "out_features": outside, "rank": 2 * rank, "alpha": 16.0, "bias": False}
    inputs["base"] = _normal(rng, outside, inside)
    change = _normal(rng, outside, rank) @ _normal(rng, rank, inside)
    inputs["training x"], inputs["held-out x"] = _normal(rng, 128, inside), _normal(rng, 50, inside)
    inputs["training y"] = inputs["training x"] @ (inputs["base"] + change).T
    inputs["steps"] = STEPS
    held_out = inputs["held-out x"]
    return {"output": held_out @ (inputs["base"] + change).T, "update": held_out @ change.T}


def _judge_case(
    reference: Any,
    case: Mapping[str, Any],
    number: int,
    inputs: Mapping[str, Any],
    answers: Mapping[str, Any],
    tolerance: float,
) -> Iterator[Check]:
    where = f"layer {number}"
    yield equal(f"names and shapes, {where}", answers.get(f"shapes {number}"), reference.shapes(case))
    yield equal(f"trainable, {where}", answers.get(f"trainable {number}"), ["lora_A", "lora_B"])
    held = reference.cut(case, inputs[f"weights {number}"])
    for dimensions in range(1, 5):
        given = inputs[f"x {dimensions} {number}"], inputs[f"pull {dimensions} {number}"]
        for kind, right in reference.answers(case, held, *given).items():
            seen = answers.get(f"{kind} {dimensions} {number}")
            yield _near(f"{kind}, {dimensions} dimensions, {where}", seen, right, tolerance)
    right = reference.answers(case, held, inputs[f"x 2 {number}"], inputs[f"pull 2 {number}"])["output"]
    for step, merged in enumerate(MERGED):
        weight = reference.merged(case, held) if merged else held["linear.weight"]
        what = f"after {'merge' if merged else 'unmerge'}, step {step}, {where}"
        yield _near(f"base weight {what}", answers.get(f"stepped weight {step} {number}"), weight, tolerance)
        yield _near(f"output {what}", answers.get(f"stepped output {step} {number}"), right, tolerance)


def _near(name: str, seen: Any, right: np.ndarray, tolerance: float) -> Check:
    scale = max(float(np.abs(right).max()), 1e-6)
    return close(name, seen / scale if isinstance(seen, np.ndarray) else seen, right / scale, tolerance=tolerance)


def _judge_beginning(rank: int, answers: Mapping[str, Any]) -> Iterator[Check]:
    first, second = (answers.get(f"fresh A {number}") for number in (0, 1))
    for number in (0, 1):
        yield close(f"lora_B at first {number}", answers.get(f"fresh B {number}"), np.zeros((3, rank)), tolerance=0)
    if not (isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and first.shape == second.shape):
        yield check("lora_A at first", False, "two arrays", "none")
        return
    drawn = np.concatenate([first.ravel(), second.ravel()]).astype(np.float64) * rank**0.5
    yield at_most("mean of lora_A at first", abs(drawn.mean()), 0.1, "|mean| times the root of the rank")
    yield at_most("spread of lora_A at first", abs(drawn.std() - 1), 0.1, "distance of the scaled spread from 1")
    yield check("lora_A in two layers", not np.array_equal(first, second), "different draws", "the same")


def _judge_dropout(
    reference: Any, inputs: Mapping[str, Any], answers: Mapping[str, Any], tolerance: float
) -> Iterator[Check]:
    """Solve for what entered the update."""
    case, x = inputs["wide"], inputs["wide x"].astype(np.float64)
    held = reference.cut(case, inputs["wide weights"])
    right = x @ reference.merged(case, held).T + held["linear.bias"]
    yield _near("output of an evaluated layer with dropout", answers.get("not dropped"), right, tolerance)
    seen: Any = answers.get("dropped")
    fits = isinstance(seen, np.ndarray) and seen.shape == right.shape and bool(np.isfinite(seen).all())
    yield require("output of a trained layer with dropout", fits, f"finite values of shape {right.shape}", "others")
    update = seen - x @ held["linear.weight"].T - held["linear.bias"]
    entered = np.linalg.lstsq(held["lora_B"] @ held["lora_A"], update.T, rcond=None)[0].T
    gone, doubled = np.abs(entered) < 0.05, np.abs(entered - 2 * x) < 0.05
    share = float((gone & ~doubled).mean())
    yield check("dropped or doubled", bool((gone | doubled).all()), "each value", f"{(gone | doubled).mean():.0%} are")
    yield check("share of dropped values", 0.35 <= share <= 0.65, "35 % to 65 %", f"{share:.0%}")


def _judge_training(
    inputs: Mapping[str, Any], target: Mapping[str, np.ndarray], answers: Mapping[str, Any], profile: Mapping[str, Any]
) -> Iterator[Check | Metric]:
    yield close("base weight after training", answers.get("base afterwards"), inputs["base"], tolerance=0)
    seen: Any = answers.get("learnt")
    fits = isinstance(seen, np.ndarray) and seen.shape == target["output"].shape and bool(np.isfinite(seen).all())
    yield require("outputs after training", fits, f"finite values of shape {target['output'].shape}", "others")
    error = np.sqrt(np.square(seen - target["output"]).mean() / np.square(target["update"]).mean())
    yield metric("training_error", float(error))
    yield at_most("error after training", float(error), profile["max_training_error"], "relative error")
