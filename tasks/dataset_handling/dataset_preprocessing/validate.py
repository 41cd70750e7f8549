# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Recompute the normalised arrays; ask of each augmented one whether its own image explains it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench import plugin
from mldevbench.checks import check, close, equal, metric, read_json, read_npy, require
from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.cifar import FOLDER, read_batch, unpack_cifar10
from mldevbench.material.shapes import draw_pictures
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HIDDEN = Path(__file__).parent / "hidden"
COUNT, VERSIONS, SHAPE = 10, 3, (3, 32, 32)
BASES = [f"preprocessed/image_{number}.npy" for number in range(COUNT)]
AUGMENTED = [f"augmented/image_{n}_v{version}.npy" for n in range(COUNT) for version in range(1, VERSIONS + 1)]
INFO = {
    "dataset": "CIFAR-10",
    "preprocessing": {"image_count": COUNT, "versions_per_image": VERSIONS, "mean": [0.5] * 3, "std": [0.5] * 3},
    "preprocessed_data_path": "preprocessed",
    "augmented_data_path": "augmented",
}


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield from _info(submission)
    for folder, names in (("preprocessed", BASES), ("augmented", AUGMENTED)):
        found = submission.matching(f"{folder}/**")
        seen = f"{len(found)} files, {len(set(names) - set(found))} of the expected ones missing"
        yield require(f"files in {folder}", sorted(found) == sorted(names), f"the {len(names)} named files only", seen)
    bases = _first_images(draw, profile).astype(np.float32) / 255 * 2 - 1
    given = [read_npy(submission, name, shape=SHAPE, dtype="float32") for name in BASES]
    compared = [close(name, seen, right, tolerance=1e-6) for name, seen, right in zip(BASES, given, bases, strict=True)]
    yield from compared
    if not all(one.passed for one in compared):
        return
    images = np.stack([read_npy(submission, name, shape=SHAPE, dtype="float32") for name in AUGMENTED])
    within = bool(np.isfinite(images).all()) and float(np.abs(images).max()) <= 1 + 1e-6
    yield require("range of the augmented arrays", within, "values from -1 to 1", "values outside, or not finite")
    yield from _explained(bases, images, profile)


def _info(submission: Submission) -> Iterator[Check]:
    info = read_json(submission, "preprocessing_info.json")
    yield require("preprocessing_info.json", isinstance(info, dict), "an object", type(info).__name__)
    block = info.get("preprocessing")
    yield require("preprocessing", isinstance(block, dict), "an object", type(block).__name__)
    for name, right in INFO.items():
        if isinstance(right, dict):
            for inner, value in right.items():
                yield equal(f"preprocessing.{inner}", block.get(inner), value)
        else:
            yield equal(name, info.get(name), right)


def _first_images(draw: Draw, profile: Mapping[str, Any]) -> np.ndarray:
    if profile["source"] != "cifar10":
        return draw_pictures(draw.rng("pictures"), profile["batch"], noise=profile["noise"]).images[:COUNT]
    with tempfile.TemporaryDirectory() as folder:
        unpack_cifar10(asset(profile, "cifar-10-python.tar.gz"), Path(folder))
        return read_batch(Path(folder) / FOLDER / "data_batch_1").images[:COUNT]


def _explained(bases: np.ndarray, images: np.ndarray, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    """Count the augmented arrays that are variations of their own image, by their best explanations."""
    matching = plugin.load(HIDDEN / "matching.py")
    table = matching.explain(bases, images)
    plain = matching.window(matching.smooth(bases))
    owns, ratios, changes, colours = [], [], [], []
    for position, row in enumerate(table):
        number = position // VERSIONS
        own, other = row[number].unexplained, min(e.unexplained for n, e in enumerate(row) if n != number)
        earlier = [table[sibling][number].fitted for sibling in range(number * VERSIONS, position)]
        changes.append(min(float(np.abs(row[number].fitted - rival).mean()) for rival in [plain[number], *earlier]))
        owns.append(own)
        ratios.append(own / max(other, 1e-9))
        colours.append(row[number].colours())
    alike = (np.array(owns) <= profile["max_unexplained"]) & (np.array(ratios) <= profile["margin"])
    varied = np.array(changes) >= profile["min_change"]
    matches, contrasts = np.array(colours).T
    kept = (contrasts >= profile["min_contrast"]) & (contrasts <= profile["max_contrast"])
    kept &= matches >= profile["min_colour_match"]
    yield _enough("versions that stem from their image", alike, profile["min_good"])
    yield _enough("versions that vary their image", varied, profile["min_good"])
    yield _enough("versions that keep its colours", kept, profile["min_good"])
    yield metric("median unexplained share", float(np.median(owns)))
    yield metric("median ratio to the next image", float(np.median(ratios)))
    yield metric("median change", float(np.median(changes)))
    yield metric("least correlation of colours", float(matches.min()))
    yield metric("least contrast", float(contrasts.min()))
    yield metric("largest contrast", float(contrasts.max()))


def _enough(name: str, good: np.ndarray, bound: int) -> Check:
    others = [name.removeprefix("augmented/") for name, holds in zip(AUGMENTED, good, strict=True) if not holds]
    seen = f"{int(good.sum())}; not {', '.join(others[:5])}" if others else f"all {len(good)}"
    return check(name, int(good.sum()) >= bound, f"at least {bound} of {len(good)}", seen)
