"""A recorded study played again: the trajectory of the run that asked for the same becomes a script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mldevbench.errors import UserError
from mldevbench.model.script import Script, Turn, TurnUsage
from mldevbench.model.spec import ModelSpec
from mldevbench.records import Run, RunRow, Step
from mldevbench.store.place import Place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import stored_steps

Asked = tuple[str, str, int, int]  # task, profile, instance, seed


class Recordings:
    """The recorded studies that lie beside a study; each is read once."""

    def __init__(self, study: Place) -> None:
        self._study = study
        self._read: dict[str, dict[Asked, list[RunRow]]] = {}

    def give(self, model: ModelSpec | None, run: Run) -> ModelSpec | None:
        """Give a `replay/STUDY` model the turns for one run; any other model is as it was."""
        if model is None or model.provider != "replay":
            return model
        row = self.row(model, run)
        steps = stored_steps(self._place(model).child(f"artifacts/{row.run_id}/{row.attempts}"))
        return replace(model, script=script_of(steps, served=model.name))

    def row(self, model: ModelSpec, run: Run) -> RunRow:
        """Return the recorded run of the same task, profile, instance and seed, of the same agent if there is one."""
        rows = self._rows(model).get((run.task, run.profile, run.instance, run.seed), [])
        same_agent = [row for row in rows if row.agent == run.spec.agent]
        if not (same_agent or rows):
            raise UserError(f"model {model.name}: it has no run of {run.task} with seed {run.seed}")
        return (same_agent or rows)[0]

    def _rows(self, model: ModelSpec) -> dict[Asked, list[RunRow]]:
        if model.name not in self._read:
            found = self._read[model.name] = {}
            for row in StudyStore(self._place(model)).runs.all():
                if row.model:
                    found.setdefault((row.task, row.profile, row.instance, row.seed), []).append(row)
        return self._read[model.name]

    def _place(self, model: ModelSpec) -> Place:
        name = model.name.partition("/")[2]
        beside = self._study.path.rpartition("/")[0]
        place = Place(self._study.filesystem, f"{beside}/{name}", name, f"{beside}/{name}")
        if not place.has("study.yaml"):
            raise UserError(f"model replay/{name}: there is no study of that name beside this one")
        return place


def demand_recordings(models: Mapping[str, ModelSpec], runs: Iterable[Run], study: Place) -> None:
    """Refuse a study that would play what was never recorded, before anything starts."""
    recordings = Recordings(study)
    for run in runs:
        model = models.get(run.spec.model or "")
        if model and model.provider == "replay":
            recordings.row(model, run)


def script_of(steps: Iterable[Step], served: str = "replay") -> str:
    """Return the script that answers as the recorded model did, call by call."""
    turns = [_turn(step) for step in steps if step.role == "model"]
    return json.dumps(Script(served=served, turns=turns).model_dump(exclude_defaults=True))


def _turn(step: Step) -> Turn:
    answer: dict[str, Any] = json.loads(step.arguments or "{}")
    return Turn(
        text=step.text,
        reasoning=step.reasoning,
        calls=[{call["name"]: call["arguments"]} for call in answer.get("calls", [])],
        usage=TurnUsage(
            prompt=step.usage.prompt_tokens,
            completion=step.usage.completion_tokens,
            cached=step.usage.cached_tokens,
            reasoning=step.usage.reasoning_tokens,
        ),
        finish=answer.get("finish"),
    )
