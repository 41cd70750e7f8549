"""Training pictures in CIFAR-100's layout, without a test split."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.cifar100 import real_fine_names, real_pictures, renumbered, write_training_set
from mldevbench.material.cifar_split import class_order, names_of
from mldevbench.material.textured import COARSE_NAMES, FINE_NAMES, draw_textured


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> dict[str, int]:
    if profile["source"] == "cifar100":
        pictures, (fine, coarse) = real_pictures(profile, "train"), real_fine_names(profile)
    else:
        pictures = draw_textured(draw.rng("pictures"), profile["train"], noise=profile["noise"])
        fine, coarse = list(FINE_NAMES), list(COARSE_NAMES)
    order = class_order(draw, len(fine))
    write_training_set(destination / "data", renumbered(pictures, order), names_of(order, fine), coarse)
    return {"classes": len(fine)}
