"""What the mirror serves in this instance: a small vision transformer in the hub's layout, and pictures."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors.numpy import load_file, save

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.cifar import FOLDER, TRAIN_BATCHES, read_batch, unpack_cifar10, write_cifar10
from mldevbench.material.shapes import Pictures
from mldevbench.material.tarball import pack_folder
from mldevbench.material.tiny_vit import CONFIG, FILE, Weights, drawn_copy

ARCHIVE = "cifar-10-python.tar.gz"


class Hub(NamedTuple):
    """The model as the hub has it."""

    name: str
    weights: Weights
    config: dict[str, Any]
    mean: list[float]
    std: list[float]


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    name = hub_model(draw).name
    (destination / "model.txt").write_text(f"{name}\n", encoding="utf-8")
    return {"model": name}


def serve(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    hub = hub_model(draw)
    place = destination / "hub" / "models" / hub.name
    place.mkdir(parents=True)
    (place / "model.safetensors").write_bytes(save(hub.weights, {"format": "pt"}))
    (place / "config.json").write_text(json.dumps(hub.config, indent=2), encoding="utf-8")
    prepared = {"do_rescale": True, "rescale_factor": 1 / 255, "do_normalize": True, "do_resize": False}
    prepared |= {"image_mean": hub.mean, "image_std": hub.std, "image_processor_type": "ViTImageProcessor"}
    (place / "preprocessor_config.json").write_text(json.dumps(prepared, indent=2), encoding="utf-8")
    (destination / "data").mkdir()
    if profile["source"] == "cifar10":
        (destination / "data" / ARCHIVE).symlink_to(asset(profile, ARCHIVE))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_cifar10(Path(folder), draw.rng("pictures"), profile["batch"], profile["test"], profile["noise"])
        (destination / "data" / ARCHIVE).write_bytes(pack_folder(Path(folder)))


def hub_model(draw: Draw) -> Hub:
    rng = draw.rng("model")
    weights = drawn_copy(rng, load_file(FILE))
    labels = {str(number): f"shape {number}" for number in range(len(weights["classifier.bias"]))}
    config = CONFIG | {"id2label": labels, "label2id": {name: int(number) for number, name in labels.items()}}
    mean, std = ([round(float(value), 3) for value in rng.uniform(*bounds, 3)] for bounds in ((0.4, 0.6), (0.4, 0.6)))
    return Hub(f"shape-lab/tiny-vit-{draw.hex('name of the model', 6)}", weights, config, mean, std)


def first_batch(draw: Draw, profile: Mapping[str, Any]) -> Pictures:
    """Return the pictures of data_batch_1."""
    with tempfile.TemporaryDirectory() as folder:
        if profile["source"] != "cifar10":
            return write_cifar10(
                Path(folder), draw.rng("pictures"), profile["batch"], profile["test"], profile["noise"]
            )
        unpack_cifar10(asset(profile, ARCHIVE), Path(folder))
        made = read_batch(Path(folder) / FOLDER / TRAIN_BATCHES[0])
    return Pictures(made.images, np.asarray(made.labels))
