"""The log of this instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.training_log import draw_log


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    text = draw_log(draw.rng("log"), profile).text
    (destination / "training").mkdir()
    (destination / "training" / "training_logs.txt").write_text(text, encoding="utf-8")
    return {"thousands": round(text.count("\n") / 1000)}
