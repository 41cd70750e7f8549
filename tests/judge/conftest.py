"""A workspace to attack, a way to submit it, and rooms to run it in."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from judge.support import Submit

from mldevbench.room import RoomSettings, rooms
from mldevbench.sandbox.opening import choose
from mldevbench.sandbox.protocol import Limits
from mldevbench.submission import Submission, collect, open_submission

# Enough to import torch; small, so that whoever goes over them does so soon.
LIMITS = Limits(memory_mb=1200, processes=200, disk_mb=100)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    place.mkdir()
    return place


@pytest.fixture
def submit(workspace: Path, tmp_path: Path) -> Submit:
    """Collect the workspace and open what was collected, as validation does."""
    numbers = itertools.count()

    def do(patterns: tuple[str, ...] = ("**",), max_mb: float = 20) -> Submission:
        archive = tmp_path / f"submission-{next(numbers)}.tar"
        manifest = collect(workspace, patterns, max_mb, archive)
        return open_submission(archive, manifest.digest, archive.with_suffix(""))

    return do


@pytest.fixture
def settings(tmp_path: Path, task_venv: Path) -> Iterator[RoomSettings]:
    made = RoomSettings(choose("auto", trusted=True), task_venv, tmp_path / "scratch", LIMITS, warm=False)
    with rooms(made):
        yield made


@pytest.fixture
def warm_settings(settings: RoomSettings) -> Iterator[RoomSettings]:
    """The same, with calls served by a process that has torch imported."""
    with rooms(replace(settings, warm=True)) as made:
        yield made
