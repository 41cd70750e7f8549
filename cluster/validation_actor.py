"""The validation actor: judges submissions where no agent ever ran."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any

from cluster.run_actor import Site
from mldevbench import task_venv
from mldevbench.bundle import Bundle, unpack
from mldevbench.cache import cache_folder
from mldevbench.draw import Draw
from mldevbench.store.place import Place
from mldevbench.submission import erase
from mldevbench.task import load_task
from mldevbench.validate import Judgement, RoomSettings, judge


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
    judgement: Judgement
    seconds: float


class ValidationWorker:
    """Judges one submission at a time; stays warm between them."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def grade(self, exam: Exam, place: Place, task_bundle: Bundle) -> Graded:
        began = time.monotonic()
        task = load_task(unpack(task_bundle, cache_folder()))
        scratch = self.site.scratch_folder() / secrets.token_hex(8)
        scratch.mkdir(parents=True, mode=0o711)
        try:
            place.bring(exam.archive, scratch / "submission.tar")
            settings = RoomSettings(exam.isolation, task_venv.path(), scratch)
            judgement = judge(task, scratch / "submission.tar", exam.digest, exam.draw, exam.profile, settings)
        finally:
            erase(scratch)
        return Graded(judgement, time.monotonic() - began)


def validation_actor(cpus: float, gpus: float) -> Any:
    import ray

    return ray.remote(num_cpus=cpus, num_gpus=gpus, max_restarts=0, max_task_retries=0)(ValidationWorker)
