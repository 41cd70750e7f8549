"""The digits of this instance, as MNIST's own files, and which three of them to learn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.digit_set import given_set


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    digits = given_set(draw.rng("digits"), profile)
    raw = destination / "data" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    (destination / "training").mkdir()
    for name, content in digits.files().items():
        (raw / name).write_bytes(content)
    (destination / "data" / "digits.json").write_text(json.dumps(digits.wanted), encoding="utf-8")
    return {
        "digits": ", ".join(map(str, digits.wanted)),
        "given_train": len(digits.train.labels),
        "moved": ", moved by up to a pixel" if profile["source"] == "mnist" else "",
    }
