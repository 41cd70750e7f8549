# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the submitted attention with a reference for sizes, weights, inputs and caches drawn after submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, close, equal, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

FOLDER = Path(__file__).parent
HIDDEN = FOLDER / "hidden"
MODULE = "mla.py"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(MODULE, submission.has(MODULE), f"a file {MODULE}", "none")
    reference = plugin.load(HIDDEN / "reference.py")
    inputs = _inputs(reference, draw.rng("held-out cases"), profile["cases"])
    given = {"rotary.py": FOLDER / "workspace" / "rotary.py"}
    with Room(submission, files=[MODULE], add=given) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    for number, sizes in enumerate(inputs["cases"]):
        seen = answers.get(f"shapes {number}")
        yield equal(f"parameters of model {number}", seen, reference.shapes(sizes))
    for name, number, cached in inputs["calls"]:
        yield from _compare(reference, inputs, answers, name, number, cached, profile["tolerance"])


def _sizes(rng: np.random.Generator) -> dict[str, int]:
    """Draw sizes of which no two that could be confused are equal."""
    heads, rotary = int(rng.integers(2, 6)), 2 * int(rng.integers(2, 5))
    head = rotary + int(rng.integers(3, 9)) * 2 + 1
    return {
        "width": heads * head,
        "heads": heads,
        "query_rank": int(rng.integers(12, 24)),
        "latent_rank": int(rng.integers(12, 24)),
        "rotary_width": rotary,
    }


def _inputs(reference: Any, rng: np.random.Generator, cases: int) -> dict[str, Any]:
    inputs: dict[str, Any] = {"cases": [_sizes(rng) for _ in range(cases)], "calls": []}
    for number, sizes in enumerate(inputs["cases"]):
        count = sum(int(np.prod(shape)) for shape in reference.shapes(sizes).values())
        inputs[f"weights {number}"] = rng.normal(0.1, 0.3, count).astype(np.float32)
        _draw_calls(inputs, rng, number, sizes)
    return inputs


def _draw_calls(inputs: dict[str, Any], rng: np.random.Generator, number: int, sizes: Mapping[str, int]) -> None:
    """One call without a cache, and three that a memory of one's own can't answer."""
    batch, past, length = int(rng.integers(1, 5)), int(rng.integers(3, 20)), int(rng.integers(2, 12))
    row = sizes["latent_rank"] + sizes["rotary_width"]
    cache = rng.normal(size=(batch, past, row)).astype(np.float32)
    altered = cache.copy()
    altered[:, int(rng.integers(past))] += rng.normal(size=row)
    x = rng.normal(size=(batch, length, sizes["width"])).astype(np.float32)
    calls = {"whole": (x, None), "continued": (x, cache), "altered cache": (x, altered), "one token": (x[:, :1], cache)}
    for kind, (given, held) in calls.items():
        name = f"{kind}, model {number}"
        inputs["calls"].append([name, number, held is not None])
        inputs[f"x {name}"] = given
        total = given.shape[1] + (0 if held is None else past)
        inputs[f"pull {name}"] = rng.normal(size=given.size + batch * total * row).astype(np.float32)
        if held is not None:
            inputs[f"cache {name}"] = held


def _compare(
    reference: Any,
    inputs: Mapping[str, Any],
    answers: Mapping[str, Any],
    name: str,
    number: int,
    cached: bool,
    tolerance: float,
) -> Iterator[Check]:
    cache = inputs[f"cache {name}"] if cached else None
    sizes, weights = inputs["cases"][number], inputs[f"weights {number}"]
    right = reference.answers(sizes, weights, inputs[f"x {name}"], inputs[f"pull {name}"], cache)
    if cache is not None:
        right["given cache"] = cache
    for kind, value in right.items():
        seen: Any = answers.get(f"{kind} {name}")
        yield require(f"{kind}, {name}", isinstance(seen, np.ndarray), "an array", type(seen).__name__)
        scale = max(float(np.abs(value).max()), 1e-6)
        yield close(f"{kind}, {name}", seen / scale, value / scale, tolerance=tolerance)
