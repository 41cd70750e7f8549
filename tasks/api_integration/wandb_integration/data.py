"""The settings of this instance: what the run must be called, how long it is, and the key of its measurements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    made = settings(draw, profile)
    (destination / "settings.json").write_text(json.dumps(made, indent=2), encoding="utf-8")
    return {"prefix": made["prefix"]}


def settings(draw: Draw, profile: Mapping[str, Any]) -> dict[str, Any]:
    rng = draw.rng("settings")
    return {
        "key": draw.hex("key", 32),
        "prefix": f"evaluation-{draw.hex('prefix', 6)}",
        "epochs": int(rng.integers(*profile["epochs"])),
        "learning_rate": round(float(10 ** rng.uniform(-4, -2)), 7),
    }
