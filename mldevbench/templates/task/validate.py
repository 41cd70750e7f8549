# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Recompute the answer from the draw; nothing that the agent says is taken on trust."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mldevbench.checks import Submission, close, number, read_json, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    answer = read_json(submission, "answer.json")
    yield require(
        "answer.json", isinstance(answer, dict) and "mean" in answer, "an object with the key mean", "another form"
    )
    expected = float(draw.rng("numbers").integers(-1000, 1000, profile["count"]).mean())
    yield close("mean", number(answer["mean"], "mean"), expected, tolerance=1e-6)
