"""From a study file and options to a checked study; an option replaces the file's key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from mldevbench import task_venv, yamlfile
from mldevbench.catalog import Catalog
from mldevbench.errors import UserError, unknown
from mldevbench.mirror.network import hosts_of, normal
from mldevbench.study import (
    AgentEntry,
    BudgetFile,
    LimitFile,
    Request,
    ResourceChoice,
    StudyFile,
    agent_specs,
    budgets_of,
    read_study_file,
    seeds_of,
    task_refs,
)


@dataclass(frozen=True)
class Options:
    """What the command line says; None or empty is nothing said."""

    agents: Sequence[str] = ()
    models: Sequence[str] = ()
    tasks: Sequence[str] = ()
    exclude_tasks: Sequence[str] = ()
    name: str | None = None
    profile: str | None = None
    seeds: str | None = None
    instances: int | None = None
    budgets: Sequence[str] = ()
    limit: str | None = None
    params: Sequence[str] = ()
    gpus: str | None = None
    cpus: str | None = None
    gpu_type: str | None = None
    share_gpus: bool = False
    storage: str | None = None
    sandbox: str | None = None
    network: str | None = None
    snapshot_every: str | None = None
    samples: int | None = None
    wandb: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


def read_study(path: Path | None, options: Options) -> StudyFile:
    """Return the file's study with the options laid over it."""
    file = read_study_file(path) if path else StudyFile()
    said: dict[str, Any] = {
        "agents": [entry.model_dump() for entry in agent_entries(options.agents, options.models)],
        "tasks": list(options.tasks),
        "exclude_tasks": list(options.exclude_tasks),
        "name": options.name,
        "profile": options.profile,
        "seeds": parse_seeds(options.seeds),
        "instances": options.instances,
        "budget": [parse_units("--budget", text, BudgetFile) for text in options.budgets],
        "limits": parse_units("--limit", options.limit, LimitFile) if options.limit else None,
        "storage": options.storage,
        "sandbox": options.sandbox,
        "network": options.network,
        "snapshot_every": options.snapshot_every,
        "samples": options.samples,
        "wandb": file.wandb.model_dump() | {"mode": options.wandb} if options.wandb else None,
        **options.extra,
    }
    chosen = {key: value for key, value in said.items() if value not in (None, [], {})}
    resources = {"gpus": _number(options.gpus), "cpus": _number(options.cpus), "gpu_type": options.gpu_type}
    resources["share_gpus"] = options.share_gpus or None
    asked = file.resources.model_dump() | {key: value for key, value in resources.items() if value is not None}
    study = yamlfile.build({**file.model_dump(), **chosen, "resources": asked}, StudyFile, "options")
    refuse_clashes(study)
    demand_whole(study.resources)
    return study.model_copy(update={"agents": with_params(study.agents, options.params)})


def refuse_clashes(study: StudyFile) -> None:
    """Refuse what can't be done, alone or together."""
    hosts_of(study.network)
    if study.samples > 1 and study.snapshot_every:
        raise UserError("--snapshot-every looks at one piece of work as it grows; leave it out, or --samples")


def demand_whole(resources: ResourceChoice) -> None:
    """Refuse a part of a GPU that nobody said may be shared: Ray keeps no memory of it apart."""
    gpus = resources.gpus
    if isinstance(gpus, str) or not gpus % 1:
        return
    if gpus > 1:
        raise UserError(f"{gpus:g} GPUs per run: write a whole number, or a part of one")
    if not resources.share_gpus:
        raise UserError(f"{gpus:g} GPUs per run: runs on one GPU aren't kept apart; if that is meant, say --share-gpus")


def request_of(study: StudyFile, catalog: Catalog, isolation: str, salt_digest: str) -> Request:
    """Freeze what is asked for."""
    return Request(
        agents=agent_specs(study.agents, catalog),
        tasks=task_refs(
            catalog.tasks(study.tasks, study.exclude_tasks), study.profile, study.resources.gpus, task_venv.lock()
        ),
        profile=study.profile,
        seeds=seeds_of(study.seeds),
        instances=study.instances,
        budgets=budgets_of(study.budget),
        samples=study.samples,
        isolation=isolation,
        network=normal(study.network),
        salt_digest=salt_digest,
    )


def agent_entries(agents: Sequence[str], models: Sequence[str]) -> list[AgentEntry]:
    """Multiply agents by models; `react=openai/gpt-4o` binds one."""
    entries: list[AgentEntry] = []
    for word in agents:
        agent, bound, model = word.partition("=")
        for chosen in [model] if bound else models or [None]:
            entries.append(AgentEntry(agent=agent, model=chosen))
    return entries


def with_params(entries: Sequence[AgentEntry], params: Sequence[str]) -> list[AgentEntry]:
    """Set `[LABEL.]key=value` on every agent, or on those of one label or id."""
    changed = list(entries)
    for text in params:
        match = re.fullmatch(r"(?:(?P<label>[^=]+)\.)?(?P<key>[A-Za-z_]\w*)=(?P<value>.*)", text, re.DOTALL)
        if not match:
            raise UserError(f"--param {text!r}: write key=value or LABEL.key=value")
        label, value = match["label"], yaml.safe_load(match["value"])
        for place, entry in enumerate(changed):
            if label in (None, entry.label, entry.agent):
                changed[place] = entry.model_copy(update={"params": {**entry.params, match["key"]: value}})
        if label and label not in {name for entry in entries for name in (entry.label, entry.agent)}:
            raise unknown("agent label", label, [entry.label or entry.agent for entry in entries])
    # An agent that needs no model is met once, however many models there are.
    return changed


def parse_seeds(text: str | None) -> int | list[int] | None:
    """Read `5` as the seeds 0 to 4 and `3,7` as those two."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")] if "," in text else int(text)
    except ValueError:
        raise UserError(f"--seeds {text!r}: write a number of seeds, or a list such as 0,3,7") from None


def parse_units(option: str, text: str, shape: type[BudgetFile] | type[LimitFile]) -> dict[str, Any]:
    """Read `steps=50,minutes=60`."""
    values: dict[str, Any] = {}
    for part in text.split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in shape.model_fields:
            raise UserError(f"{option} {text!r}: {unknown('unit', key, shape.model_fields)}")
        try:
            values[key] = int(value) if "float" not in str(shape.model_fields[key].annotation) else float(value)
        except ValueError:
            raise UserError(f"{option} {text!r}: {key} must be a number, not {value!r}") from None
        if not equals or values[key] <= 0:
            raise UserError(f"{option} {text!r}: {key} must be more than 0")
    return values


def _number(text: str | None) -> float | str | None:
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{text!r} is neither a number nor auto") from None
