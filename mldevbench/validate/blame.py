"""Judging: a verdict, or whose fault it is that there is none."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from mldevbench.draw import Draw
from mldevbench.errors import Fault, UserError
from mldevbench.records import Cause, StopReason, Verdict
from mldevbench.room.settings import RoomSettings
from mldevbench.task import Task
from mldevbench.validate.run import ValidatorBroke, validate_submission
from mldevbench.validate.variant import make, reference


@dataclass(frozen=True)
class Judgement:
    """A verdict; or none, with a cause outside the attempt (void) or a stop reason of its own (failed)."""

    verdict: Verdict | None
    cause: Cause | None = None
    stop_reason: StopReason | None = None
    detail: str = ""


def judge(task: Task, archive: Path, digest: str, draw: Draw, profile: str, settings: RoomSettings) -> Judgement:
    """Validate a submission; if that breaks, find out whether the node or the submission is to blame."""
    try:
        return Judgement(validate_submission(task, archive, digest, draw, profile, settings))
    except ValidatorBroke as broke:
        detail = broke.detail
    except Fault as fault:
        if fault.cause == Cause.STORAGE_ERROR:
            return Judgement(None, Cause.STORAGE_ERROR, detail=fault.detail)
        detail = str(fault)
    if blame_validation(task, draw, profile, settings) == Cause.VALIDATOR_ERROR:
        return Judgement(None, Cause.VALIDATOR_ERROR, detail=detail)
    return Judgement(None, stop_reason=StopReason.UNVALIDATABLE, detail=detail)


def blame_validation(task: Task, draw: Draw, profile: str, settings: RoomSettings) -> Cause | StopReason:
    """Validate the reference solution here and now: only if that errs too, the submission is not to blame."""
    try:
        solution = reference(task)
    except UserError:
        return StopReason.UNVALIDATABLE  # nothing shows that anything outside the attempt is at fault
    settings.scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=settings.scratch) as folder:
        archive = Path(folder) / "reference.tar"
        try:
            made = make(task, solution, draw, profile, settings, archive)
            validate_submission(task, archive, made.manifest.digest, draw, profile, settings)
        except (ValidatorBroke, Fault, OSError):
            return Cause.VALIDATOR_ERROR
    return StopReason.UNVALIDATABLE
