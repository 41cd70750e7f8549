"""The pictures of this instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.shapes import draw_pictures


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    pictures = draw_pictures(draw.rng("pictures"), profile["pictures"])
    (destination / "data").mkdir()
    np.save(destination / "data" / "images.npy", pictures.images)
    np.save(destination / "data" / "labels.npy", pictures.labels.astype(np.int32))
