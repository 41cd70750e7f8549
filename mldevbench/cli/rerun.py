"""`mldevbench rerun`: repeat one run in a study of its own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.output import Json, Root, Storage, StudyName, note
from mldevbench.errors import UserError

if TYPE_CHECKING:
    from mldevbench.cli.running import Ready
    from mldevbench.records import Run
    from mldevbench.store.place import Place
    from mldevbench.study import Request, StudyFile


def rerun(
    study: StudyName,
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or its first digits.")],
    storage: Storage = "results",
    name: Annotated[str | None, typer.Option("--name", help="The new study's name.")] = None,
    address: Annotated[str | None, typer.Option("--address", help="Ray's address; local starts one.")] = None,
    api_base: Annotated[str | None, typer.Option("--api-base", help="URL of an OpenAI-compatible server.")] = None,
    price: Annotated[list[str] | None, typer.Option("--price", help="MODEL=IN,OUT[,CACHED].")] = None,
    env_file: Annotated[Path | None, typer.Option("--env-file", help="File with keys as NAME=value.")] = None,
    root: Root = [],
    json_: Json = False,
) -> None:
    """Repeat one run as it was asked for: same agent, task, instance, seed and budget, on the same draw.

    The study that it comes from isn't touched. Each call repeats it once more, unless the last repeat is still owed.
    """
    from mldevbench import task_venv
    from mldevbench.cli.driving import drive
    from mldevbench.cli.finding import find_run
    from mldevbench.cli.running import Call, make_ready, study_place
    from mldevbench.frozen import read_requests
    from mldevbench.store.study_store import find_study

    store = find_study(study, storage)
    found = find_run(store, run)
    if found.run is None:
        raise UserError(f"run {found.run_id} isn't asked for by the study's own requests, so it can't be asked again")
    above = _above(store.place)
    chosen = name or _free_name(above, f"{store.name}-rerun-{found.run_id[:8]}")
    task_venv.path()
    call = Call(
        study=_study_file(found.run, read_requests(store.place)[0], chosen, above.shown),
        roots=tuple(Path(folder) for folder in root),
        prices=tuple(price or ()),
        api_base=api_base,
        env_file=env_file,
        address=address,
        json=json_,
    )
    ready = _of_one_instance(make_ready(call), found.run)
    raise typer.Exit(drive(call, ready, study_place(ready.storage, ready.name)))


def _above(place: Place) -> Place:
    """Return the storage that a study lies in: its salt draws the same instance."""
    from mldevbench.store.place import Place

    path, shown = place.path.rpartition("/")[0], place.shown.rpartition("/")[0]
    return Place(place.filesystem, path, str(Path(path)) if place.local else shown, path)


def _free_name(storage: Place, name: str) -> str:
    """Return the name, with a number if a repeat under it is complete."""
    from mldevbench.owed import owed
    from mldevbench.store.study_store import find_study

    number, chosen = 1, name
    while storage.has(f"{chosen}/study.yaml") and owed(find_study(chosen, storage.shown), storage.shown).line is None:
        number += 1
        chosen = f"{name}-{number}"
    return chosen


def _study_file(run: Run, request: Request, name: str, storage: str) -> StudyFile:
    from mldevbench.study import AgentEntry, BudgetFile, ResourceChoice, StudyFile

    budget, spec = run.budget, run.spec
    return StudyFile(
        name=name,
        agents=[AgentEntry(agent=spec.agent, model=spec.model, params=json.loads(spec.params), label=spec.label)],
        tasks=[run.task],
        profile=run.profile,
        seeds=[run.seed],
        instances=run.instance + 1,
        budget=BudgetFile(
            steps=budget.steps, minutes=budget.minutes, wall_minutes=budget.wall_minutes, tokens=budget.tokens,
            usd=budget.usd,
        ),
        resources=ResourceChoice(gpus=run.gpus, share_gpus=bool(run.gpus % 1)),
        samples=run.samples,
        sandbox=request.isolation,
        network=request.network,
        storage=storage,
    )  # fmt: skip


def _of_one_instance(ready: Ready, run: Run) -> Ready:
    from mldevbench.plan import plan

    tasks = tuple(replace(task, gpus=run.gpus) for task in ready.request.tasks)  # as it was asked, to the digit
    ready = replace(ready, request=replace(ready.request, first_instance=run.instance, tasks=tasks))
    if run.run_id not in {one.run_id for one in plan([ready.request]).runs}:
        note("the task or the agent changed since: this is the same request, but not the same run")
    return ready
