# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Let the submitted code name the classes of pictures that it never saw; compare with the true ones outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.checks import Room, at_most, beats, metric, predict, require
from mldevbench.draw import Draw
from mldevbench.material import imagenette_files
from mldevbench.material.noisy_folder import CLASSES, Files, as_rows, draw_files
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

PROBE = Path(__file__).parent / "hidden" / "probe.py"
CODE, REST = "predict.py", "model/**"
BYTES_PER_PARAMETER, BYTES_OF_CODE = 4, 100_000


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(CODE, submission.has(CODE), f"a file {CODE}", submission.why_not(CODE))
    limit = profile["max_parameters"] * BYTES_PER_PARAMETER + BYTES_OF_CODE
    size = sum(submission.files[path].size for path in {CODE, *submission.matching(REST)})
    yield at_most("bytes of predict.py and model/", size, limit)
    if size > limit:
        return
    unseen = _unseen(draw, profile)
    with Room(submission, files=[CODE, REST]) as room:
        made = predict(
            room,
            PROBE,
            as_rows(unseen.contents),
            draw=draw,
            seconds=profile["seconds"],
            key="files",
            extra={"suffix": profile["suffix"]},
            parts=profile["parts"],
        )
    yield require("classes", made.ndim == 1, "one class per picture", f"shape {made.shape}")
    hits = made == unseen.labels
    found = float(hits.mean())
    yield metric("accuracy", found)
    yield metric("worst class", min(float(hits[unseen.labels == kind].mean()) for kind in np.unique(unseen.labels)))
    yield beats("accuracy on unseen pictures", found, profile["min_accuracy"])


def _unseen(draw: Draw, profile: Mapping[str, Any]) -> Files:
    if profile["source"] == "imagenette":
        return imagenette_files.held_out(draw, profile)
    order = draw.rng("class order").permutation(CLASSES)
    return draw_files(draw.rng("held-out pictures"), profile["held_out"], order)
