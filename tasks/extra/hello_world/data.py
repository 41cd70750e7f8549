"""The greeting of this instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.words import greeting


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    line = greeting(draw.rng("greeting"))
    (destination / "greeting.txt").write_text(line + "\n", encoding="utf-8")
    return {"greeting": line}
