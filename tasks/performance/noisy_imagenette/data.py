"""The pictures of this instance in one flat folder, most with a label that may be wrong, a few with a true one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material import imagenette_files
from mldevbench.material.noisy_folder import (
    CLASSES,
    draw_confusion,
    draw_files,
    mislabelled,
    random_names,
    write_labels,
    write_pictures,
)


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> Mapping[str, object]:
    folder, rng = destination / "dataset", draw.rng("given pictures")
    if profile["source"] == "imagenette":
        train, wrong, validation = imagenette_files.given(draw, profile)
        classes = len(imagenette_files.CLASSES)
    else:
        order = draw.rng("class order").permutation(CLASSES)
        train, validation = (draw_files(rng, profile[name], order) for name in ("train", "validation"))
        wrong, classes = mislabelled(rng, train.labels, draw_confusion(rng)), CLASSES
    names = random_names(rng, len(train.contents) + len(validation.contents), profile["suffix"])
    write_pictures(folder / "images", names, [*train.contents, *validation.contents])
    write_labels(folder / "noisy_labels_50.csv", "noisy_label", names[: len(wrong)], wrong)
    write_labels(folder / "validation.csv", "label", names[len(wrong) :], validation.labels.tolist())
    percent = round(100 * profile["min_accuracy"])
    return {"percent": percent, "last": classes - 1, "parameters": f"{profile['max_parameters']:,}"}
