"""The validation actor: judges submissions where no agent ever ran."""

from __future__ import annotations

import time
from dataclasses import dataclass

from cluster.berth import Berth, Wear
from cluster.gpus import held_gpus
from cluster.lodging import lodging
from cluster.site import Site
from mldevbench import task_venv
from mldevbench.bundle import Bundle, unpack
from mldevbench.cache import cache_folder
from mldevbench.draw import Draw
from mldevbench.store.place import Place
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
        site.settle()
        self.site = site
        self._wear = Wear()

    def ready(self) -> Berth:
        """Answer once the actor has its place and is fit for work."""
        return self.site.berth(self._wear, [])  # the warm processes of its rooms are meant to stay

    def grade(self, exam: Exam, place: Place, task_bundle: Bundle) -> Graded:
        began = time.monotonic()
        task = load_task(unpack(task_bundle, cache_folder()))
        self.site.supply(task, exam.profile)
        with self._wear, lodging(self.site.scratch_folder()) as scratch:
            place.bring(exam.archive, scratch / "submission.tar")
            settings = RoomSettings(exam.isolation, task_venv.path(), scratch, gpus=held_gpus())
            judgement = judge(task, scratch / "submission.tar", exam.digest, exam.draw, exam.profile, settings)
        return Graded(judgement, time.monotonic() - began)
