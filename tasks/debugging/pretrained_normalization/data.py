"""Pictures of this instance, and the backbone with a normalisation of its own folded into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from mldevbench.draw import Draw
from mldevbench.material.pretrained import draw_preprocessing, folded
from mldevbench.material.shapes import draw_pictures


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    rng = draw.rng("pictures")
    wanted = draw_preprocessing(rng)
    place = destination / "pretrained"
    weights = folded(load_file(place / "weights.safetensors"), "first.0", wanted)
    (place / "weights.safetensors").write_bytes(save(weights))
    (place / "preprocessing.json").write_text(json.dumps(wanted._asdict(), indent=2), encoding="utf-8")
    (destination / "data").mkdir()
    names = rng.permutation(10)
    for split in ("train", "val"):
        pictures = draw_pictures(rng, profile[split])
        np.save(destination / "data" / f"{split}_images.npy", pictures.images)
        np.save(destination / "data" / f"{split}_labels.npy", names[pictures.labels])
    return {"percent": round(100 * profile["min_accuracy"])}
