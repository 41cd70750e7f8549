"""The real Imagenette with its published wrong labels, as files without the folders that tell the true class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.imagenette import CLASSES, LEVELS, TABLE, Row, files_of, read_table
from mldevbench.material.noisy_folder import Files

ARCHIVE = "imagenette2-160.tgz"
TRUE, WRONG = LEVELS.index(0), LEVELS.index(50)


class Given(NamedTuple):
    """Training files, their labels with half of them wrong, and a few validation files."""

    train: Files
    wrong: list[int]
    validation: Files


def given(draw: Draw, profile: Mapping[str, Any]) -> Given:
    rows = _rows(profile)
    train = [row for row in rows if not row.is_valid]
    wrong = [CLASSES.index(row.labels[WRONG]) for row in train]
    return Given(_files(profile, train), wrong, _files(profile, _split(draw, profile, rows)[0]))


def held_out(draw: Draw, profile: Mapping[str, Any]) -> Files:
    return _files(profile, _split(draw, profile, _rows(profile))[1])


def _rows(profile: Mapping[str, Any]) -> list[Row]:
    return read_table(next(content for name, content in files_of(asset(profile, ARCHIVE)) if name == TABLE))


def _split(draw: Draw, profile: Mapping[str, Any], rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return the validation pictures that are shown, and those that are kept for scoring."""
    known = [row for row in rows if row.is_valid]
    mixed = [known[int(place)] for place in draw.rng("validation split").permutation(len(known))]
    shown = profile["validation"]
    return mixed[:shown], mixed[shown : shown + profile["held_out"]]


def _files(profile: Mapping[str, Any], rows: Sequence[Row]) -> Files:
    places = {row.path: place for place, row in enumerate(rows)}
    contents = [b""] * len(rows)
    for name, content in files_of(asset(profile, ARCHIVE)):
        if name in places:
            contents[places[name]] = content
    return Files(contents, np.asarray([CLASSES.index(row.labels[TRUE]) for row in rows]))
