"""What a driver is given, and what it says of its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cluster.shape import Shape
from cluster.site import Site
from mldevbench.catalog import Catalog
from mldevbench.model.door import ModelSpec
from mldevbench.plan import Plan
from mldevbench.store.study_store import StudyStore

SPARE_GB = 0.25


@dataclass(frozen=True)
class Policy:
    """What may change from call to call."""

    void_retries: int = 2
    order: str = "seeds"
    only: str = "owed"  # owed, new or void
    runs_at_once: int | None = None
    usd_limit: float | None = None
    gpu_hours_limit: float | None = None
    fresh_actors: bool = False
    max_hours: float | None = None
    wait_for_nodes: bool = False  # for what no node can hold yet


@dataclass(frozen=True)
class Job:
    name: str
    plan: Plan
    catalog: Catalog
    store: StudyStore
    salt: bytes = field(repr=False)
    isolation: str
    network: str = "none"
    cpus: float | None = None  # per run; None: as the task says
    models: Mapping[str, ModelSpec] = field(default_factory=dict)  # by name
    policy: Policy = field(default_factory=Policy)
    site: Site = field(default_factory=Site)
    snapshot_every: str | None = None
    gpu_type: str = ""  # an accelerator, or a label as key=value

    def shape(self, task: str, gpus: float) -> Shape:
        """Return what a run reserves; more memory than its sandbox may use, so that Ray never ends it for that."""
        asked = self.catalog.task(task).resources
        cpus = self.cpus if self.cpus is not None else asked.cpus
        return Shape(cpus, gpus, asked.memory_gb + SPARE_GB, self.gpu_type if gpus else "")


@dataclass
class Tally:
    """Where a study stands."""

    planned: int
    passed: int = 0
    failed: int = 0
    void: int = 0
    running: int = 0
    grading: int = 0
    usd: float | None = 0.0
    seconds_left: float = 0.0
    guessing: bool = False  # nothing has ended yet that would tell how long runs take
    nodes: int = 0
    gpus: float = 0.0
    gpus_held: float = 0.0
    gpus_idle: float = 0.0
    model_wait_seconds: float = 0.0  # of the agents that work now
    notes: list[str] = field(default_factory=list)  # to be said once

    @property
    def done(self) -> int:
        return self.passed + self.failed

    @property
    def owed(self) -> int:
        return self.planned - self.done


@dataclass(frozen=True)
class Ended:
    """How a driver's call ended."""

    tally: Tally
    limit: str | None = None
    interrupted: bool = False

    @property
    def exit_code(self) -> int:
        if self.interrupted:
            return 130
        if self.limit:
            return 4
        return 3 if self.tally.owed else 0
