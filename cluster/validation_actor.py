"""The validation actor: judges submissions where no agent ever ran."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.run_actor import Site
from mldevbench import task_venv
from mldevbench.bundle import Bundle, unpack
from mldevbench.cache import cache_folder
from mldevbench.draw import Draw
from mldevbench.records import Verdict
from mldevbench.store.place import Place
from mldevbench.task import load_task
from mldevbench.validate import RoomSettings, ValidatorBroke, blame_validation, validate_submission


@dataclass(frozen=True)
class Exam:
    """What is to be judged, and with which secrets."""

    archive: str
    digest: str
    draw: Draw
    profile: str
    isolation: str


@dataclass(frozen=True)
class Graded:
    """A verdict, or why there is none."""

    verdict: Verdict | None
    seconds: float
    blame: str | None = None  # validator_error or unvalidatable
    detail: str = ""


class ValidationWorker:
    """Judges one submission at a time; stays warm between them."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def grade(self, exam: Exam, place: Place, task_bundle: Bundle) -> Graded:
        began = time.monotonic()
        task = load_task(unpack(task_bundle, cache_folder()))
        parent = self.site.scratch_folder()
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent) as folder:
            scratch = Path(folder)
            settings = RoomSettings(exam.isolation, task_venv.path(), scratch)
            archive = scratch / "submission.tar"
            place.bring(exam.archive, archive)
            try:
                verdict = validate_submission(task, archive, exam.digest, exam.draw, exam.profile, settings)
            except ValidatorBroke as broke:
                blame = blame_validation(task, exam.draw, exam.profile, settings)
                return Graded(None, time.monotonic() - began, blame, str(broke))
        return Graded(verdict, time.monotonic() - began)


def validation_actor(cpus: float, gpus: float) -> Any:
    import ray

    return ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=0, max_task_retries=0)(ValidationWorker)
