"""What tasks declare to need, file by file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mldevbench.task import Task


@dataclass(frozen=True)
class Asset:
    """One file as a task's `assets` names it; the same content under two names is fetched once."""

    task: str
    profile: str
    name: str
    url: str
    bytes: int
    sha256: str
    licence: str
    source: str
    revision: str = ""
    held_out: bool = False  # only judges may read it


def declared(task: Task, profile: str) -> tuple[Asset, ...]:
    """Return a task's assets of one profile."""
    files = task.file.assets.get(profile, {})
    return tuple(Asset(task=task.id, profile=profile, name=name, **file.model_dump()) for name, file in files.items())


def distinct(assets: Iterable[Asset]) -> list[Asset]:
    """Return one of each content."""
    return list({asset.sha256: asset for asset in assets}.values())
