"""A recorded study played again: the trajectory of the run that asked for the same becomes a script."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mldevbench.errors import UserError
from mldevbench.model.script import Script, Turn, TurnUsage
from mldevbench.model.spec import ModelSpec
from mldevbench.records import Run, Step
from mldevbench.store.place import Place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import stored_steps


def with_recording(model: ModelSpec | None, run: Run, study: Place) -> ModelSpec | None:
    """Give a `replay/STUDY` model the turns for one run, from a study that lies beside this one."""
    if model is None or model.provider != "replay":
        return model
    name = model.name.partition("/")[2]
    beside = study.path.rpartition("/")[0]
    place = Place(study.filesystem, f"{beside}/{name}", name, f"{beside}/{name}")
    return replace(model, script=script_of(recorded_steps(place, run), served=model.name))


def recorded_steps(place: Place, run: Run) -> list[Step]:
    """Return the steps of the recorded run of the same task, profile, instance and seed."""
    if not place.has("study.yaml"):
        raise UserError(f"model replay/{place.shown}: there is no study of that name beside this one")
    wanted = (run.task, run.profile, run.instance, run.seed)
    rows = [
        row
        for row in StudyStore(place).runs.all()
        if row.model and (row.task, row.profile, row.instance, row.seed) == wanted
    ]
    same_agent = [row for row in rows if row.agent == run.spec.agent]
    if not (same_agent or rows):
        raise UserError(f"model replay/{place.shown}: it has no run of {run.task} with seed {run.seed}")
    row = (same_agent or rows)[0]
    return stored_steps(place.child(f"artifacts/{row.run_id}/{row.attempts}"))


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
