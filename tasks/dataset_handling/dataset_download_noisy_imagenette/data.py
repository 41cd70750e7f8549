"""The archive that the mirror serves: drawn for this instance, or the real one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.imagenette import TOP, draw_collection, write_archive

SERVED = f"fast-ai-imageclas/{TOP}.tgz"


def serve(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    place = destination / SERVED
    place.parent.mkdir(parents=True)
    if profile["source"] == "imagenette":
        place.symlink_to(asset(profile, f"{TOP}.tgz").resolve())
    else:
        write_archive(draw_collection(draw.rng("images"), profile["train"], profile["val"]), place)
