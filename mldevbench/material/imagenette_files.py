"""The real Imagenette with its published wrong labels, as files without the folders that tell the true class."""

from __future__ import annotations

import csv
import io
import tarfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.noisy_folder import Files

ARCHIVE, FOLDER, TABLE = "imagenette2-160.tgz", "imagenette2-160", "noisy_imagenette.csv"
CLASSES = 10


def given(draw: Draw, profile: Mapping[str, Any]) -> tuple[Files, list[int], Files]:
    """Return training files, their labels with half of them wrong, and a few validation files."""
    rows = _table(profile)
    numbers = {name: number for number, name in enumerate(sorted({row["noisy_labels_0"] for row in rows}))}
    train = [row for row in rows if row["is_valid"] != "True"]
    shown, _ = _split(draw, profile, rows)
    wrong = [numbers[row["noisy_labels_50"]] for row in train]
    return _files(profile, train, numbers), wrong, _files(profile, shown, numbers)


def held_out(draw: Draw, profile: Mapping[str, Any]) -> Files:
    rows = _table(profile)
    numbers = {name: number for number, name in enumerate(sorted({row["noisy_labels_0"] for row in rows}))}
    return _files(profile, _split(draw, profile, rows)[1], numbers)


def _split(draw: Draw, profile: Mapping[str, Any], rows: list[dict[str, str]]) -> tuple[list[Any], list[Any]]:
    """Return the validation pictures that are shown, and those that are kept for scoring."""
    known = [row for row in rows if row["is_valid"] == "True"]
    order = draw.rng("validation split").permutation(len(known))
    mixed = [known[int(place)] for place in order]
    shown = profile["validation"]
    return mixed[:shown], mixed[shown : shown + profile["held_out"]]


def _table(profile: Mapping[str, Any]) -> list[dict[str, str]]:
    with tarfile.open(asset(profile, ARCHIVE), "r:gz") as files:
        for member in files:
            if member.name.rsplit("/", 1)[-1] == TABLE:
                file = files.extractfile(member)
                assert file is not None
                return list(csv.DictReader(io.StringIO(file.read().decode())))
    raise ValueError(f"{ARCHIVE} holds no {TABLE}")


def _files(profile: Mapping[str, Any], rows: list[dict[str, str]], numbers: Mapping[str, int]) -> Files:
    wanted = {f"{FOLDER}/{row['path']}": place for place, row in enumerate(rows)}
    contents: list[bytes] = [b""] * len(rows)
    with tarfile.open(asset(profile, ARCHIVE), "r:gz") as files:
        for member in files:
            if (place := wanted.get(member.name)) is not None and (file := files.extractfile(member)) is not None:
                contents[place] = file.read()
    return Files(contents, np.asarray([numbers[row["noisy_labels_0"]] for row in rows]))
