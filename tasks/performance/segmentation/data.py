"""Scenes of this instance by two cameras: masks for the first, none for the second; and where to start from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save

from mldevbench.draw import Draw
from mldevbench.material import voc
from mldevbench.material.asset import asset
from mldevbench.material.scenes import CLASSES, FIRST_CAMERA, KINDS, draw_camera, draw_scenes, shoot

BACKBONE = "resnet50-0676ba61.pth"


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    if profile["source"] == "voc":
        classes = voc.CLASSES
        voc.write_given(destination / "data", draw, profile)
        (destination / "pretrained" / "model.safetensors").unlink()
        shutil.copyfile(asset(profile, BACKBONE), destination / "pretrained" / BACKBONE)
    else:
        classes = CLASSES
        _scenes(destination, draw, profile)
    model = {"model_name": profile["model_name"], "num_classes": classes}
    (destination / "model.json").write_text(json.dumps(model), encoding="utf-8")
    given = Template(profile["given"].strip()).substitute(profile)
    return {"percent": round(100 * profile["min_mean_iou"]), "given": given, "last": classes - 1}


def _scenes(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    order = draw.rng("class order").permutation(len(KINDS))
    camera = draw_camera(draw.rng("second camera"))
    rng = draw.rng("given scenes")
    labelled, unlabelled = (draw_scenes(rng, profile[name], order) for name in ("labelled", "unlabelled"))
    folder = destination / "data"
    folder.mkdir()
    np.save(folder / "labelled_images.npy", shoot(rng, labelled.light, FIRST_CAMERA))
    np.save(folder / "labelled_masks.npy", labelled.masks)
    np.save(folder / "unlabelled_images.npy", shoot(rng, unlabelled.light, camera))
    place = destination / "pretrained" / "model.safetensors"
    place.write_bytes(save(_reordered(load_file(place), order)))


def _reordered(weights: Mapping[str, np.ndarray], order: np.ndarray) -> dict[str, np.ndarray]:
    """Return weights that call the classes by this instance's numbers."""
    old = np.concatenate([[0], 1 + np.argsort(order)])
    made = dict(weights)
    for name in ("scores.weight", "scores.bias"):
        rows = made[name].reshape(CLASSES, 4, *made[name].shape[1:])  # four pixels of each class lie together
        made[name] = np.ascontiguousarray(rows[old].reshape(made[name].shape))
    return made
