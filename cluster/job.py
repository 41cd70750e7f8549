"""What a driver is given, and what it says of its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cluster.run_actor import Site
from cluster.shape import Shape
from mldevbench.catalog import Catalog
from mldevbench.model.door import ModelSpec
from mldevbench.plan import Plan
from mldevbench.records import Run
from mldevbench.store.study_store import StudyStore


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

    def shape(self, run: Run) -> Shape:
        cpus = self.cpus if self.cpus is not None else self.catalog.task(run.task).resources.cpus
        return Shape(cpus, run.gpus)


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
