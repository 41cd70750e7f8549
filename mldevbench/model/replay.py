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


def with_recording(model: ModelSpec | None, run: Run, study: Place) -> ModelSpec | None:
    """Give a `replay/STUDY` model the turns for one run, from a study that lies beside this one."""
    if model is None or model.provider != "replay":
        return model
    place = recording(model, study)
    rows = list(StudyStore(place).runs.all())
    row = recorded_row(place, rows, run)
    steps = stored_steps(place.child(f"artifacts/{row.run_id}/{row.attempts}"))
    return replace(model, script=script_of(steps, served=model.name))


def demand_recordings(models: Mapping[str, ModelSpec], runs: Iterable[Run], study: Place) -> None:
    """Refuse a study that would play what was never recorded, before anything starts."""
    played = {name: recording(model, study) for name, model in models.items() if model.provider == "replay"}
    rows = {name: list(StudyStore(place).runs.all()) for name, place in played.items()}
    for run in runs:
        name = run.spec.model or ""
        if name in played:
            recorded_row(played[name], rows[name], run)


def recording(model: ModelSpec, study: Place) -> Place:
    """Return the recorded study, which lies beside this one."""
    name = model.name.partition("/")[2]
    beside = study.path.rpartition("/")[0]
    place = Place(study.filesystem, f"{beside}/{name}", name, f"{beside}/{name}")
    if not place.has("study.yaml"):
        raise UserError(f"model replay/{name}: there is no study of that name beside this one")
    return place


def recorded_row(place: Place, recorded: Iterable[RunRow], run: Run) -> RunRow:
    """Return the recorded run of the same task, profile, instance and seed, of the same agent if there is one."""
    wanted = (run.task, run.profile, run.instance, run.seed)
    rows = [row for row in recorded if row.model and (row.task, row.profile, row.instance, row.seed) == wanted]
    same_agent = [row for row in rows if row.agent == run.spec.agent]
    if not (same_agent or rows):
        raise UserError(f"model replay/{place.shown}: it has no run of {run.task} with seed {run.seed}")
    return (same_agent or rows)[0]


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
