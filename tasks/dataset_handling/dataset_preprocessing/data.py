"""The image files of this instance, in CIFAR-10's own layout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mldevbench.draw import Draw
from mldevbench.material.asset import asset
from mldevbench.material.cifar import unpack_cifar10, write_cifar10


def prepare(destination: Path, draw: Draw, profile: Mapping[str, Any]) -> None:
    folder = destination / "data"
    folder.mkdir()
    if profile["source"] == "cifar10":
        unpack_cifar10(asset(profile, "cifar-10-python.tar.gz"), folder)
    else:
        write_cifar10(folder, draw.rng("pictures"), profile["batch"], profile["test"], profile["noise"])
