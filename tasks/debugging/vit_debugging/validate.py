# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the repaired package with a reference for sizes, weights, pictures and patch sizes drawn after submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, close, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HIDDEN = Path(__file__).parent / "hidden"
PACKAGE = "tiny_vit/__init__.py"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(PACKAGE, submission.has(PACKAGE), f"a file {PACKAGE}", "none")
    reference = plugin.load(HIDDEN / "reference.py")
    rng = draw.rng("held-out cases")
    cases = _cases(rng)
    inputs: dict[str, Any] = {"cases": [case for case, _ in cases]}
    for number, (case, side) in enumerate(cases):
        count = sum(int(np.prod(shape)) for shape in reference.shapes(case["sizes"]).values())
        inputs[f"weights {number}"] = rng.normal(0.02, 0.25, count).astype(np.float32)
        channels = case["sizes"]["in_channels"]
        inputs[f"images {number}"] = rng.normal(size=(profile["batch"], channels, *side)).astype(np.float32)
        patch = reference.pair(case["patch_size"] or case["sizes"]["patch_size"])
        places = side[0] // patch[0] * (side[1] // patch[1])
        inputs[f"masks {number}"] = rng.random((profile["batch"], places)) < 0.4
    with Room(submission, files=["tiny_vit/**"]) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    for number, (case, _) in enumerate(cases):
        yield from _compare(reference, number, case, inputs, answers, profile["tolerance"])


def _sizes(rng: np.random.Generator, feed_forward: str, registers: int, patch_size: Any = 8) -> dict[str, Any]:
    heads = int(rng.integers(2, 5))
    return {
        "image_size": [32, 48] if rng.integers(2) else 32,
        "patch_size": patch_size,
        "in_channels": int(rng.integers(1, 5)),
        "width": heads * int(rng.integers(5, 9)),
        "depth": int(rng.integers(2, 4)),
        "heads": heads,
        "hidden": int(rng.integers(20, 60)),
        "registers": registers,
        "feed_forward": feed_forward,
    }


def _cases(rng: np.random.Generator) -> list[tuple[dict[str, Any], list[int]]]:
    """Return cases, each with the size of its pictures, that meet every path through the package."""
    some = int(rng.integers(1, 4))
    plain = {"patch_size": None, "masked": False, "as_maps": False, "with_class": False, "count": 1}
    wide, high = [32, 64], [64, 40]
    native = {**plain, "sizes": _sizes(rng, "mlp", some), "masked": True}
    larger = {**plain, "sizes": _sizes(rng, "gated", 0), "count": 2, "as_maps": True, "masked": True}
    paired = {**plain, "sizes": _sizes(rng, "mlp", some, [4, 8]), "with_class": True, "count": 2}
    finer = {**plain, "sizes": _sizes(rng, "gated", some), "patch_size": 4, "as_maps": True, "with_class": True}
    coarser = {**plain, "sizes": _sizes(rng, "mlp", 0, 4), "patch_size": [8, 16], "masked": True, "count": 2}
    same = {**plain, "sizes": _sizes(rng, "mlp", some), "patch_size": 8}
    size = native["sizes"]["image_size"]
    own = [size, size] if isinstance(size, int) else size
    return [(native, own), (larger, wide), (paired, high), (finer, [24, 40]), (coarser, wide), (same, high)]


def _compare(
    reference: Any,
    number: int,
    case: Mapping[str, Any],
    inputs: Mapping[str, Any],
    answers: Mapping[str, Any],
    tolerance: float,
) -> Iterator[Check]:
    asked = f"patches of {case['patch_size']} at call time" if case["patch_size"] else "patches as constructed"
    where = f"{case['sizes']['feed_forward']}, {case['sizes']['registers']} registers, {asked}"
    shapes = answers.get(f"shapes {number}")
    right_shapes = reference.shapes(case["sizes"])
    odd = _odd(shapes, right_shapes)
    yield require(f"parameters, {where}", not odd, "names and shapes as told", odd)
    given = (inputs[f"{kind} {number}"] for kind in ("weights", "images", "masks"))
    for name, right in reference.answers(case, *given).items():
        seen: Any = answers.get(f"{name} {number}")
        yield require(f"{name}, {where}", isinstance(seen, np.ndarray), "an array", type(seen).__name__)
        scale = max(float(np.abs(right).max(initial=0)), 1e-6)
        yield close(f"{name}, {where}", seen / scale, right / scale, tolerance=tolerance)


def _odd(seen: Any, right: Mapping[str, list[int]]) -> str:
    """Name a parameter that is missing, unknown or of another shape."""
    if not isinstance(seen, dict):
        return "no list of parameters"
    names = [name for name in sorted(seen.keys() | right.keys()) if seen.get(name) != right.get(name)]
    return f"{names[0]}: {str(seen.get(names[0]))[:80]}" if names else ""
