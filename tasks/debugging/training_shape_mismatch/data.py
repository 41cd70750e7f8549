"""The digits of this instance, as MNIST's own files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.digit_set import given_set


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    digits = given_set(draw.rng("digits"), profile)
    (destination / "data").mkdir()
    for name, content in digits.files().items():
        (destination / "data" / name).write_bytes(content)
