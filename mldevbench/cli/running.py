"""What stands between a study's request and its driver: names, keys, storage and sandbox, all checked first."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from mldevbench import frozen, task_venv
from mldevbench.ask import request_of
from mldevbench.catalog import Catalog
from mldevbench.cli.output import note, print_json
from mldevbench.draw import salt_digest
from mldevbench.errors import UserError
from mldevbench.model.price import parse_price
from mldevbench.model.replay import demand_recordings
from mldevbench.model.secrets import read_env_file
from mldevbench.model.spec import ModelSpec, demand_price, resolve
from mldevbench.plan import Plan, plan
from mldevbench.sandbox.opening import choose
from mldevbench.snapshot import parse_grid
from mldevbench.store.lease import Lease
from mldevbench.store.place import Place, check_writable, open_place
from mldevbench.store.salt import read_salt
from mldevbench.store.study_store import StudyStore
from mldevbench.study import Request, StudyFile, check_name, default_name
from mldevbench.tracking.choice import Choice
from mldevbench.tracking.choice import choose as choose_tracking


@dataclass(frozen=True)
class Call:
    """One call of `run`."""

    study: StudyFile
    roots: tuple[Path, ...] = ()
    prices: tuple[str, ...] = ()
    api_base: str | None = None
    env_file: Path | None = None
    address: str | None = None
    scratch: str | None = None
    cache: str | None = None
    void_retries: int = 2
    only: str = "owed"
    order: str = "seeds"
    fresh_actors: bool = False
    max_hours: float | None = None
    wait_for_nodes: bool = False
    offline: bool = False
    no_install: bool = False
    dry_run: bool = False
    quiet: bool = False
    json: bool = False


@dataclass(frozen=True)
class Ready:
    """A call with everything found that it names."""

    name: str
    request: Request
    catalog: Catalog
    models: dict[str, ModelSpec]
    storage: Place
    address: str
    wandb: Choice = field(default_factory=Choice)


def carry_out(call: Call) -> int:
    """Check everything, then run what is owed; return the exit code."""
    ready = make_ready(call)
    place = study_place(ready.storage, ready.name)
    demand_recordings(ready.models, plan([ready.request]).runs, place)
    if call.dry_run:
        return show_plan(call, ready, place)
    task_venv.path()
    if call.offline:
        demand_assets(ready)
    if ready.address == "local":  # elsewhere each node sees to it by itself
        from mldevbench.cli.installing import see_to

        see_to((ready.catalog.agent(spec.agent) for spec in ready.request.agents), call.no_install)
    from mldevbench.cli.driving import drive

    return drive(call, ready, place)


def demand_assets(ready: Ready) -> None:
    """Name what a task lacks before anything starts, since it may not be fetched."""
    from mldevbench.assets.fetching import ensure

    for ref in ready.request.tasks:
        ensure(ready.catalog.task(ref.id), ready.request.profile, offline=True)


def make_ready(call: Call) -> Ready:
    from cluster.session import choose_address

    address = choose_address(call.address)
    catalog = Catalog.of(call.roots)
    storage = open_place(_storage(call.study.storage))
    check_writable(storage)
    salt = read_salt(storage)
    draft = request_of(call.study, catalog, "", salt_digest(salt))
    models = find_models(call, draft)
    isolation = choose(call.study.sandbox, trusted=_trusted(draft, catalog, models, address))
    _demand_walls(isolation, draft, catalog)
    request = replace(draft, isolation=isolation)
    if call.study.snapshot_every:
        for budget in request.budgets:
            parse_grid(call.study.snapshot_every).check(budget)
    name = check_name(call.study.name) if call.study.name else default_name(request)
    environment = dict(os.environ) | (read_env_file(call.env_file) if call.env_file else {})
    wandb = choose_tracking(call.study.wandb.mode, call.study.wandb.project, environment)
    if call.offline and wandb.on:
        wandb = replace(wandb, mode="offline")
    return Ready(name, request, catalog, models, storage, address, wandb)


def study_place(storage: Place, name: str) -> Place:
    child = storage.child(name)
    return Place(child.filesystem, child.path, child.shown, child.path)


def find_models(call: Call, request: Request) -> dict[str, ModelSpec]:
    """Find address, key and price of every model, before anything is spent."""
    environment = dict(os.environ) | (read_env_file(call.env_file) if call.env_file else {})
    prices = dict(parse_price(text) for text in call.prices)
    names = {spec.model for spec in request.agents if spec.model}
    for name in prices:
        if name not in names:
            raise UserError(
                f"--price {name}: no agent of this study uses that model; it has: {', '.join(sorted(names)) or 'none'}"
            )
    models = {
        name: resolve(
            name,
            settings=call.study.models.get(name),
            environment=environment,
            price=prices.get(name),
            api_base=call.api_base,
        )
        for name in sorted(names)
    }
    for spec in models.values():
        for budget in request.budgets:
            demand_price(spec, budget)
        if call.study.limits.usd and spec.price is None:
            raise UserError(f"a limit in dollars needs a price for {spec.name}; add --price {spec.name}=IN,OUT")
    return models


def _trusted(request: Request, catalog: Catalog, models: dict[str, ModelSpec], address: str) -> bool:
    """Whether nothing runs but our own files and prepared turns, on this machine."""
    return address == "local" and all(
        catalog.agent(spec.agent).file.trusted or (spec.model is not None and models[spec.model].played)
        for spec in request.agents
    )


def _demand_walls(isolation: str, request: Request, catalog: Catalog) -> None:
    """Refuse programs that talk to the model by themselves where no wall keeps their gateways apart."""
    agents = sorted({spec.agent for spec in request.agents if catalog.agent(spec.agent).through_gateway})
    if isolation == "process" and agents:
        raise UserError(f"agent {agents[0]!r} runs a program inside, which needs a real sandbox: --sandbox bubblewrap")


def _storage(storage: str) -> str:
    if "://" not in storage and not Path(storage).is_absolute() and os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR"):
        raise UserError(
            f"--storage {storage!r} is relative to the job's folder and would be lost with it; give a full path"
        )
    return storage


def resume_command(name: str) -> str:
    """Return the call that goes on with this study."""
    words = ["mldevbench", *sys.argv[1:]]
    if "--name" not in words and not any(word.startswith("--name=") for word in words):
        words += ["--name", name]
    return shlex.join(words)


def show_plan(call: Call, ready: Ready, place: Place) -> int:
    """Say what would be run; nothing is started and nothing written."""
    from mldevbench.assets.fetching import owed_bytes

    requests = [*frozen.read_requests(place), ready.request]
    whole = plan(requests)
    done = StudyStore(place).open() if place.has("study.yaml") else {}
    owed = [run for run in whole.runs if run.run_id not in done or done[run.run_id].outcome == "void"]
    expected = {ref.id: ref.expected_minutes for ref in ready.request.tasks}
    minutes = sum(expected.get(run.task, 1.0) for run in owed)
    gpu_hours = sum(run.gpus * expected.get(run.task, 1.0) for run in owed) / 60
    worst = [run.budget.usd and run.budget.usd * run.samples for run in owed if run.spec.model]
    usd = None if None in worst else sum(cost or 0.0 for cost in worst)
    facts = {
        "study": ready.name,
        "storage": place.shown,
        "address": ready.address,
        "isolation": ready.request.isolation,
        "runs": len(whole),
        "done": len(whole) - len(owed),
        "owed": len(owed),
        "run_minutes": round(minutes, 1),
        "gpu_hours": round(gpu_hours, 2),
        "download_mb": round(owed_bytes(map(ready.catalog.task, expected), ready.request.profile) / 1e6, 1),
        "usd_at_most": usd,
    }
    if call.json:
        print_json({**facts, "plan": [_line(run) for run in owed]})
        return 0
    for key, value in facts.items():
        print(f"{key.replace('_', ' '):14} {'no bound' if value is None else value}")
    for run in owed[:20]:
        print("  " + "  ".join(str(part) for part in _line(run).values()))
    if len(owed) > 20:
        print(f"  … and {len(owed) - 20} more")
    return 0


def _line(run: object) -> dict[str, object]:
    from mldevbench.records import Run

    assert isinstance(run, Run)
    return {
        "run": run.run_id, "label": run.spec.label, "task": run.task, "instance": run.instance, "seed": run.seed,
    }  # fmt: skip


def frozen_plan(ready: Ready, place: Place) -> Plan:
    return plan(frozen.add_request(place, ready.name, ready.request))


__all__ = ["Call", "Lease", "Ready", "carry_out", "frozen_plan", "make_ready", "note", "resume_command"]
