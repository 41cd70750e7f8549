"""The sizes of this instance's model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.sizes import draw_sizes

SETTINGS = '''"""Sizes of this project's model. Do not change this file."""

IMAGE_SIZE = {image_size}
CHANNELS = {channels}
NUM_CLASSES = {classes}
'''


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    sizes = draw_sizes(draw.rng("sizes"), profile)
    (destination / "settings.py").write_text(SETTINGS.format(**sizes._asdict()), encoding="utf-8")
    return sizes._asdict()
