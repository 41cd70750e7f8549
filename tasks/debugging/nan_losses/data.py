"""The readings of this instance."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.readings import draw_file, draw_law


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    rng = draw.rng("readings")
    law = draw_law(rng, 80, 400)
    (destination / "readings.csv").write_bytes(draw_file(rng, law, profile["rows"])[0])
    return {"largest": round(law.largest), "percent": f"{100 * profile['max_error']:g}"}
