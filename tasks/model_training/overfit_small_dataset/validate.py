# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the script on other data in a clean room; score the predictions it makes afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.checks import Room, at_least, at_most, equal, metric, number, predict, ran_well, read_json, require
from mldevbench.draw import Draw
from mldevbench.material.digit_set import DigitSet, given_set, only, other_set
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

SCRIPT, RESULTS = "training_script_mnist.py", "training/training_results.json"
PROBE = Path(__file__).parent / "hidden" / "probe.py"
MAX_LEFT_MB = 20


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    script = submission.bytes(SCRIPT, max_kb=500)
    yield from _counts("given data", _results(submission), given_set(draw.rng("digits"), profile))
    digits, held_out = other_set(draw.rng("held-out digits"), profile)
    files = {f"data/MNIST/raw/{name}": content for name, content in digits.files().items()}
    files |= {"data/digits.json": json.dumps(digits.wanted).encode(), "training/.keep": b""}
    with Room(submission, files=[SCRIPT], add=files) as room:
        ran = room.run(["python", SCRIPT], seconds=profile["seconds"])
        ran_well(ran, SCRIPT, profile["seconds"])
        left = room.submission(["training/**"], max_mb=MAX_LEFT_MB)
        reported = _results(left)
        yield from _counts("other data", reported, digits)
        sets = {"train": only(digits.train, digits.wanted), "test": only(digits.test, digits.wanted)}
        sets["held-out"] = only(held_out, digits.wanted)
        images = np.concatenate([split.images for split in sets.values()])
        with Room(left, files=["training/**"], add={SCRIPT: script}) as later:
            labels = predict(later, PROBE, images, draw=draw, seconds=profile["seconds"], key="images", parts=2)
    yield require("labels", labels.ndim == 1 and labels.dtype.kind in "iu", "whole numbers", f"{labels.dtype}")
    ends = np.cumsum([len(split.labels) for split in sets.values()])[:-1]
    right = dict(zip(sets, np.split(labels == np.concatenate([s.labels for s in sets.values()]), ends), strict=True))
    found = {name: float(hits.mean()) for name, hits in right.items()}
    yield at_least("training accuracy", found["train"], profile["min_train"])
    yield at_least("accuracy on unseen digits", found["held-out"], profile["min_held_out"])
    for name in ("train", "test"):
        told = number(reported.get(f"{name}_accuracy"), f"{name}_accuracy", low=0, high=1)
        yield at_most(f"gap of {name}_accuracy", abs(told - found[name]), profile["max_gap"])
    yield metric("train_accuracy", found["train"])
    yield metric("held_out_accuracy", found["held-out"])


def _results(submission: Submission) -> dict[str, Any]:
    results = read_json(submission, RESULTS)
    require(RESULTS, isinstance(results, dict), "an object", type(results).__name__)
    return results


def _counts(where: str, results: Mapping[str, Any], digits: DigitSet) -> Iterator[Check]:
    """Compare all that is counted with the files; a script that can't count is not run on."""
    for name, split in (("train", digits.train), ("test", digits.test)):
        kept = only(split, digits.wanted).labels
        counts = {str(label): int((kept == label).sum()) for label in digits.wanted if (kept == label).any()}
        rows = {
            f"unique_{name}_labels": [int(label) for label in counts],
            f"num_{name}_samples": len(kept),
            f"samples_per_class_{name}": counts,
        }
        for field, right in rows.items():
            made = equal(f"{field}, {where}", results.get(field), right, show_expected=False)
            yield require(made.name, made.passed, made.expected, made.seen)
