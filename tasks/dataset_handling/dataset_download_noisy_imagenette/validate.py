# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare every row and every image with the archive's own."""

from __future__ import annotations

import hashlib
import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mldevbench.checks import check, equal, metric, read_csv, read_json, require
from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.imagenette import CLASSES, TOP, Row, draw_collection, inventory
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

NOISIEST = -1


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    rows, digests = _truth(draw, profile)
    info = read_json(submission, "dataset_info.json")
    yield require("dataset_info.json", isinstance(info, dict), "an object", type(info).__name__)
    yield from _images(submission, info.get("dataset_path"), digests)
    yield from _labels(submission, rows)
    for name, valid in (("train_class_counts.csv", False), ("validation_class_counts.csv", True)):
        yield _counts(submission, name, Counter(row.labels[NOISIEST] for row in rows if row.is_valid is valid))


def _truth(draw: Draw, profile: Mapping[str, Any]) -> tuple[Sequence[Row], dict[str, str]]:
    if profile["source"] == "imagenette":
        return inventory(asset(profile, f"{TOP}.tgz"))
    drawn = draw_collection(draw.rng("images"), profile["train"], profile["val"])
    return drawn.rows, {path: hashlib.sha256(content).hexdigest() for path, content in drawn.images.items()}


def _images(submission: Submission, path: Any, digests: Mapping[str, str]) -> Iterator[Check | Metric]:
    below = isinstance(path, str) and f"{posixpath.normpath(path)}/".startswith("dataset/")
    yield require(
        "dataset_path", below, "the path of a folder below dataset, relative to the working folder", str(path)
    )
    folder = posixpath.normpath(str(path))
    found = {
        name[len(folder) + 1 :]: entry.sha256
        for name, entry in submission.files.items()
        if name.startswith(f"{folder}/") and name.endswith(".JPEG")
    }
    right = sum(found.get(name) == digest for name, digest in digests.items())
    other = len(found.keys() - digests.keys())
    seen = f"{right} unchanged, {len(digests.keys() - found.keys())} missing, {other} that are not in the archive"
    yield check("images", right == len(digests) and not other, f"the archive's {len(digests)} images, unchanged", seen)
    yield metric("share of images", right / len(digests))


def _labels(submission: Submission, rows: Sequence[Row]) -> Iterator[Check | Metric]:
    name = "all_noisy_labels_50.csv"
    given = read_csv(submission, name, ["path", "label"], max_rows=2 * len(rows))
    truth = {row.path: row.labels[NOISIEST] for row in rows}
    told = {row["path"]: row["label"] for row in given}
    right = sum(told.get(path) == label for path, label in truth.items())
    once = len(given) == len(told)
    seen = f"{right} right of {len(truth)}, {len(given)} rows" + ("" if once else ", some paths twice")
    yield check(name, once and told == truth, f"{len(truth)} rows with the labels at 50 % noise", seen)
    yield metric("share of labels", right / len(truth))


def _counts(submission: Submission, name: str, truth: Mapping[str, int]) -> Check:
    given = read_csv(submission, name, ["class", "count"], max_rows=1000)
    classes = sorted(row["class"] for row in given)
    if classes != list(CLASSES):
        return check(name, False, f"one row for each of {', '.join(CLASSES)}", ", ".join(classes))
    told = {row["class"]: row["count"].strip() for row in given}
    return equal(name, told, {one: str(truth.get(one, 0)) for one in CLASSES}, show_expected=False)
