"""Pascal VOC 2012's segmentation set in its own layout, half of its validation pictures kept for scoring."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.draw import Draw
from mldevbench.material.asset import asset

ARCHIVE, FOLDER = "VOCtrainval_11-May-2012.tar", "VOCdevkit/VOC2012"
CLASSES = 21


def write_given(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    """Write training pictures, the shown half of the validation pictures, their masks and the lists of names."""
    names = _names(profile)
    shown, _ = _split(draw, profile, names["val"])
    lists = {"train": names["train"], "val": sorted(shown)}
    place = destination / "VOC2012"
    for name, content in _contents(profile, [*lists["train"], *lists["val"]]):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    folder = place / "ImageSets" / "Segmentation"
    folder.mkdir(parents=True)
    for name, some in lists.items():
        (folder / f"{name}.txt").write_text("".join(f"{one}\n" for one in some), encoding="utf-8")


def held_out(draw: Draw, profile: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the kept pictures and masks, all of one size."""
    from PIL import Image

    _, kept = _split(draw, profile, _names(profile)["val"])
    side = (profile["side"], profile["side"])
    pictures: dict[str, np.ndarray] = {}
    masks: dict[str, np.ndarray] = {}
    for name, content in _contents(profile, kept):
        image, stem = Image.open(io.BytesIO(content)), Path(name).stem
        if name.endswith(".png"):
            masks[stem] = np.asarray(image.resize(side, Image.Resampling.NEAREST), np.uint8)
        else:
            scaled = image.convert("RGB").resize(side, Image.Resampling.BILINEAR)
            pictures[stem] = np.asarray(scaled, np.uint8).transpose(2, 0, 1)
    return np.stack([pictures[name] for name in kept]), np.stack([masks[name] for name in kept])


def _split(draw: Draw, profile: Mapping[str, Any], names: list[str]) -> tuple[list[str], list[str]]:
    mixed = [names[int(place)] for place in draw.rng("validation split").permutation(len(names))]
    return mixed[profile["held_out"] :], mixed[: profile["held_out"]]


def _names(profile: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    wanted = {f"{FOLDER}/ImageSets/Segmentation/{name}.txt": name for name in ("train", "val")}
    for name, content in _members(profile, wanted):
        found[wanted[name]] = content.decode().split()
    return found


def _contents(profile: Mapping[str, Any], names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    wanted = {
        f"{FOLDER}/{path}" for name in names for path in (f"JPEGImages/{name}.jpg", f"SegmentationClass/{name}.png")
    }
    for name, content in _members(profile, wanted):
        yield name.removeprefix(f"{FOLDER}/"), content


def _members(profile: Mapping[str, Any], wanted: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    names = set(wanted)
    with tarfile.open(asset(profile, ARCHIVE), "r:") as files:
        for member in files:
            if member.name in names and (file := files.extractfile(member)) is not None:
                yield member.name, file.read()
