# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare the analysis with how the drawn training really ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mldevbench.checks import close, equal, number, read_json, require
from mldevbench.draw import Draw
from mldevbench.material.training_log import draw_log
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

ANALYSIS = "training/training_analysis.json"


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    analysis = _object(ANALYSIS, read_json(submission, ANALYSIS, max_kb=16))
    right = draw_log(draw.rng("log"), profile).ending
    yield equal("status", analysis.get("status"), right.status, show_expected=False)
    yield equal("last_epoch", analysis.get("last_epoch"), right.last_epoch, show_expected=False)
    metrics = _object("final_metrics", analysis.get("final_metrics"))
    for name, value in (("accuracy", right.accuracy), ("loss", right.loss)):
        yield close(name, number(metrics.get(name), name), value, tolerance=profile["tolerance"])
    yield require("error_message", "error_message" in analysis, "the field, a text or null", "no such field")
    given = analysis["error_message"]
    error = given.strip() if isinstance(given, str) else given
    yield equal("error_message", error, right.error, show_expected=False)


def _object(name: str, value: Any) -> dict[str, Any]:
    require(name, isinstance(value, dict), "an object", type(value).__name__)
    return value
