# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the repaired model with a reference for sizes, weights and images drawn after submission."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import Room, close, equal, require
from mldevbench.draw import Draw
from mldevbench.material.sizes import Sizes, draw_sizes
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HIDDEN = Path(__file__).parent / "hidden"
MODEL = "classifier_model.py"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(MODEL, submission.has(MODEL), f"a file {MODEL}", "none")
    reference = plugin.load(HIDDEN / "reference.py")
    cases = _cases(draw, profile)
    inputs = _inputs(draw, cases)
    with Room(submission, files=[MODEL]) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    for number, sizes in enumerate(cases):
        yield from _compare(reference, number, sizes, inputs, answers, profile["tolerance"])


def _cases(draw: Draw, profile: Mapping[str, Any]) -> list[Sizes]:
    """Return the instance's own sizes first, then others; no image is as large as that of the case before it."""
    cases, rng = [draw_sizes(draw.rng("sizes"), profile)], draw.rng("held-out sizes")
    while len(cases) < profile["cases"]:
        other = draw_sizes(rng, profile)
        if other.image_size != cases[-1].image_size:
            cases.append(other)
    return cases


def _inputs(draw: Draw, cases: list[Sizes]) -> dict[str, Any]:
    rng = draw.rng("held-out weights and images")
    inputs: dict[str, Any] = {"cases": [[case.image_size, list(case.channels), case.classes] for case in cases]}
    for number, case in enumerate(cases):
        batch = int(rng.integers(1, 5))
        largest = _count(case, case.image_size // 2)
        inputs[f"weights {number}"] = rng.normal(0, 0.1, largest).astype(np.float32)
        inputs[f"images {number}"] = rng.normal(size=(batch, 3, case.image_size, case.image_size)).astype(np.float32)
        inputs[f"pull {number}"] = rng.normal(size=(batch, case.classes)).astype(np.float32)
    return inputs


def _shapes(case: Sizes, side: int) -> dict[str, list[int]]:
    first, second = case.channels
    return {
        "classifier.bias": [case.classes],
        "classifier.weight": [case.classes, second * side * side],
        "conv1.bias": [first],
        "conv1.weight": [first, 3, 3, 3],
        "conv2.bias": [second],
        "conv2.weight": [second, first, 3, 3],
    }


def _count(case: Sizes, side: int) -> int:
    return sum(int(np.prod(shape)) for shape in _shapes(case, side).values())


def _compare(
    reference: Any, number: int, case: Sizes, inputs: Mapping[str, Any], answers: Mapping[str, Any], tolerance: float
) -> Iterator[Check]:
    """Judge one case; which of the two repairs it is follows from the classifier's width."""
    where = f"{case.image_size} pixels, {case.channels} channels, {case.classes} classes"
    shapes = answers.get(f"shapes {number}")
    sides = [side for side in (case.image_size // 2, 16) if shapes == _shapes(case, side)]
    yield require(
        f"parameters, {where}", bool(sides), "the six parameters in one of the two repairs", str(shapes)[:300]
    )
    weights = reference.sliced(inputs[f"weights {number}"], _shapes(case, sides[0]))
    expected = reference.answers(weights, inputs[f"images {number}"], inputs[f"pull {number}"], sides[0])
    yield equal(f"buffers, {where}", answers.get(f"buffers {number}"), [])
    for name, right in expected.items():
        seen = answers.get(f"{name} {number}")
        yield close(f"{name}, {where}", seen, right, tolerance=tolerance * float(np.abs(right).max()))
