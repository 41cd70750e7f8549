"""Validates a submission: a pure function of its archive and the task's hidden material."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

from mldevbench import plugin
from mldevbench.assets import provided
from mldevbench.checks import check
from mldevbench.draw import Draw
from mldevbench.errors import Fault
from mldevbench.records import Check, Metric, Verdict
from mldevbench.room.settings import RoomSettings, rooms
from mldevbench.sandbox.opening import opaque_folder
from mldevbench.submission import Submission, erase, open_submission, refusals_that_matter
from mldevbench.task import Task
from mldevbench.unmet import Unmet
from mldevbench.validate.protected import protected_files

LAST_LINES = 6


class ValidatorBroke(Exception):
    """validate.py failed in a way that it should not; whose fault that is, the caller must find out."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


def validate_submission(
    task: Task, archive: Path, digest: str, draw: Draw, profile: str, settings: RoomSettings
) -> Verdict:
    """Return the verdict on an archive whose digest is verified first; damage to it is a Fault."""
    folder = opaque_folder(settings.scratch)
    try:
        submission = open_submission(archive, digest, folder / "submission")
        with rooms(of_task(task, settings, folder)):
            found = list(refusals(task, submission))
            found += findings(task, submission, draw, profile, folder / "pristine")
    finally:
        erase(folder)
    checks = tuple(item for item in found if isinstance(item, Check))
    return Verdict(checks, tuple(item for item in found if isinstance(item, Metric)), task.file.score)


def of_task(task: Task, settings: RoomSettings, scratch: Path) -> RoomSettings:
    """Return the settings with the task's own time and sizes."""
    resources = task.resources
    limits = replace(
        settings.limits,
        memory_mb=max(settings.limits.memory_mb, int(resources.memory_gb * 1024)),
        disk_mb=max(settings.limits.disk_mb, int(resources.disk_gb * 1024)),
    )
    deadline = settings.deadline if settings.deadline is not None else monotonic() + task.validation.minutes * 60
    return replace(settings, scratch=scratch, limits=limits, deadline=deadline)


def refusals(task: Task, submission: Submission) -> Iterator[Check | Metric]:
    """Yield a failed check if something that was declared could not be taken along."""
    refused = refusals_that_matter(submission.refused, task.submission)
    if refused:
        listed = "; ".join(f"{one.path}: {one.reason}" for one in refused[:10])
        limit = f"regular files of at most {task.submission_max_mb:g} MB together at {', '.join(task.submission)}"
        yield check("submission", False, limit, listed)


def findings(task: Task, submission: Submission, draw: Draw, profile: str, pristine: Path) -> list[Check | Metric]:
    """Compare and validate; a demand that is not met ends it, anything unforeseen is ValidatorBroke."""
    found: list[Check | Metric] = []
    try:
        if task.protected:
            found.append(protected_files(task, draw, profile, submission, pristine))
        run_validator(task, submission, draw, profile, found)
    except Unmet as unmet:
        found.append(Check(unmet.name, False, unmet.expected, unmet.seen))
    except Fault:
        raise
    except Exception as error:
        raise ValidatorBroke(told(error)) from error
    return found


def run_validator(task: Task, submission: Submission, draw: Draw, profile: str, found: list[Check | Metric]) -> None:
    """Add what the task's validate.py yields."""
    validate = plugin.load(task.part("validate.py")).validate
    before = len(found)
    for item in validate(submission, draw, provided(task, profile, judging=True)):
        if not isinstance(item, Check | Metric):
            raise TypeError(f"validate.py yielded a {type(item).__name__}, not a Check or Metric")
        found.append(cleaned(item))
    if not any(isinstance(item, Check) for item in found[before:]):
        raise ValueError("validate.py yielded no check")


def cleaned(item: Check | Metric) -> Check | Metric:
    """Return a check as safe to store as if it had been made with our own functions."""
    return check(item.name, item.passed, item.expected, item.seen) if isinstance(item, Check) else item


def told(error: Exception) -> str:
    lines = "".join(traceback.format_exception(error)).strip().splitlines()
    return "\n".join(lines[-LAST_LINES:])
