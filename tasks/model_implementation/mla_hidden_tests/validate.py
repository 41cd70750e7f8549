# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Judge the submitted layer by the suite that all levels of this task share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.latent_attention import judge
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield from judge(submission, draw, profile, HERE / "hidden", HERE / "workspace")
