"""Four addresses: archives, checksums, and what goes wrong with some of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.outlets import draw_outlets
from mldevbench.mirror import Fault


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> dict[str, object]:
    """Name the addresses; which of them are dead is seen only by asking."""
    outlets = draw_outlets(draw.rng("outlets"), profile["files"], profile["rows"])
    (destination / "addresses.txt").write_text("".join(f"{one.path}\n" for one in outlets), encoding="utf-8")
    return {f"path_{number}": one.path for number, one in enumerate(outlets, start=1)}


def serve(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> list[Fault]:
    outlets = draw_outlets(draw.rng("outlets"), profile["files"], profile["rows"])
    (destination / "datasets").mkdir()
    for outlet in outlets:
        place = destination / outlet.path
        place.write_bytes(outlet.served)
        place.with_name(f"{place.name}.sha256").write_text(f"{outlet.checksum}\n", encoding="utf-8")
    return [fault for outlet in outlets for fault in outlet.faults()]
