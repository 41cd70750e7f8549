"""The archive of this instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.noisy_set import archive, draw_noisy_set


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    (destination / "archive").mkdir()
    packed = archive(draw_noisy_set(draw, profile))
    (destination / "archive" / "cifar-10-noisy.tar.gz").write_bytes(packed)
