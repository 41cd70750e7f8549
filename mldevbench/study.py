"""A study: what a person asks for, from a YAML file and from options, checked before anything starts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pydantic

from mldevbench import yamlfile
from mldevbench.catalog import Catalog
from mldevbench.digest import canonical, of_value
from mldevbench.errors import UserError, unknown
from mldevbench.model.settings import ModelSettings
from mldevbench.records import AgentSpec, Budget
from mldevbench.reference.paper import PAPER
from mldevbench.task import Task
from mldevbench.yamlfile import Strict

Positive = Annotated[float, pydantic.Field(gt=0)]
Count = Annotated[int, pydantic.Field(ge=1)]


class AgentEntry(Strict):
    agent: str
    model: str | None = None
    params: dict[str, Any] = {}
    label: str | None = None


class BudgetFile(Strict):
    steps: Count | None = None
    minutes: Positive | None = None
    wall_minutes: Positive | None = None
    tokens: Count | None = None
    usd: Positive | None = None


class LimitFile(Strict):
    usd: Positive | None = None
    gpu_hours: Positive | None = None
    runs_at_once: Count | None = None


class ResourceChoice(Strict):
    gpus: float | str = "auto"
    cpus: float | str = "auto"
    gpu_type: str | None = None  # an accelerator such as A100, or a node's label as key=value
    share_gpus: bool = False  # whether a run may have a part of a GPU

    @pydantic.field_validator("gpus", "cpus")
    @classmethod
    def _auto_or_number(cls, value: float | str) -> float | str:
        if isinstance(value, str) and value != "auto":
            raise ValueError("must be a number or auto")
        if not isinstance(value, str) and value < 0:
            raise ValueError("must not be negative")
        return value


class WandbFile(Strict):
    mode: Literal["disabled", "offline", "online"] | None = None  # None: as WANDB_MODE says
    project: str | None = None


class StudyFile(Strict):
    """What a study file may say; every key can be given as an option too."""

    name: str | None = None
    agents: list[AgentEntry] = []
    models: dict[str, ModelSettings] = {}
    tasks: list[str] = []
    exclude_tasks: list[str] = []
    profile: str = "mini"
    seeds: Count | list[int] = 1
    instances: Count = 1
    budget: BudgetFile | list[BudgetFile] = BudgetFile()
    limits: LimitFile = LimitFile()
    resources: ResourceChoice = ResourceChoice()
    samples: Count = 1
    sandbox: str = "auto"
    snapshot_every: str | None = None
    network: str = "none"
    storage: str = "results"
    wandb: WandbFile = WandbFile()


@dataclass(frozen=True)
class TaskRef:
    """What a plan needs to know of a task."""

    id: str
    category: str
    task_digest: str
    validator_digest: str
    gpus: float
    expected_minutes: float


@dataclass(frozen=True)
class Request:
    """One call's part of a study, frozen with the digests of what it names; equal requests are the same request."""

    agents: tuple[AgentSpec, ...]
    tasks: tuple[TaskRef, ...]
    profile: str
    seeds: tuple[int, ...]
    instances: int
    budgets: tuple[Budget, ...]
    samples: int = 1
    isolation: str = "bubblewrap"
    network: str = "none"
    salt_digest: str = ""
    first_instance: int = 0


@dataclass(frozen=True)
class Study:
    """A request with what may change from call to call."""

    name: str
    request: Request
    storage: str
    limits: LimitFile = field(default_factory=LimitFile)
    models: Mapping[str, ModelSettings] = field(default_factory=dict)
    resources: ResourceChoice = field(default_factory=ResourceChoice)


def read_study_file(path: Path) -> StudyFile:
    if not path.is_file():
        raise UserError(f"study file {str(path)!r} isn't there")
    return yamlfile.load(path, StudyFile)


def agent_specs(entries: Sequence[AgentEntry], catalog: Catalog) -> tuple[AgentSpec, ...]:
    """Resolve what the study says of agents; labels must be unique."""
    specs: dict[str, AgentSpec] = {}
    for entry in entries:
        agent = catalog.agent(entry.agent)
        if agent.file.needs_model and not entry.model:
            raise UserError(f"agent {agent.id!r} needs a model; add --model, for example --model openai/gpt-4o")
        model = entry.model if agent.file.needs_model else None
        params = canonical(agent.settings(entry.params))
        label = entry.label or (f"{agent.id}-{short_name(model)}" if model else agent.id)
        spec = AgentSpec(agent.id, label, agent.digest(), model, params)
        if label in specs and specs[label] != spec:
            raise UserError(f"two agents are labelled {label!r}; give each a label of its own in a study file")
        specs[label] = spec
    if not specs:
        raise UserError("no agent; add --agent, for example --agent oracle ('mldevbench agents list' shows all)")
    return tuple(specs.values())


def short_name(model: str) -> str:
    """Return what a model is called in a label: no provider, and of a script no ending."""
    last = model.rsplit("/", 1)[-1]
    return last.rsplit(".", 1)[0] if model.startswith("scripted/") else last


def task_refs(tasks: Sequence[Task], profile: str, gpus: float | str, venv_lock: str) -> tuple[TaskRef, ...]:
    if profile not in ("mini", "full"):
        raise unknown("profile", profile, ("mini", "full"))
    if not tasks:
        raise UserError("no task; add --task, for example --task nan_losses, a category, or all")
    return tuple(
        TaskRef(
            task.id,
            task.category,
            task.task_digest(profile, venv_lock),
            task.validator_digest(),
            task.resources.gpus if gpus == "auto" else float(gpus),
            task.expected_minutes,
        )
        for task in tasks
    )


def budgets_of(said: BudgetFile | Sequence[BudgetFile]) -> tuple[Budget, ...]:
    """Fill in the defaults; a budget in other units alone keeps the default steps and minutes."""
    listed = [said] if isinstance(said, BudgetFile) else list(said)
    usual = Budget()
    return tuple(
        Budget(
            steps=one.steps or usual.steps,
            minutes=one.minutes or usual.minutes,
            wall_minutes=one.wall_minutes,
            tokens=one.tokens,
            usd=one.usd,
        )
        for one in listed
    )


def seeds_of(said: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(range(said)) if isinstance(said, int) else tuple(dict.fromkeys(said))


def default_name(request: Request) -> str:
    """Return a slug of agents, models and tasks plus four digits of the request without its seeds."""
    labels = "-".join(spec.label for spec in request.agents)
    tasks = "-".join(ref.id for ref in request.tasks) if len(request.tasks) < 3 else f"{len(request.tasks)}-tasks"
    slug = re.sub(r"[^a-z0-9]+", "-", f"{labels}-{tasks}".lower()).strip("-")[:60].strip("-")
    asked = [
        sorted((spec.agent, spec.model or "", spec.params) for spec in request.agents),
        sorted(ref.id for ref in request.tasks),
        request.profile,
    ]
    return f"{slug}-{of_value(asked, 4)}"


def check_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", name):
        raise UserError(f"study name {name!r}: use letters, digits, dots, dashes and underscores, at most 100")
    if name == PAPER:
        raise UserError(f"study name {name!r} stands for the paper's own tables in reports; choose another with --name")
    return name
