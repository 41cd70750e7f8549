"""The records that cross a process or reach disk; every Parquet schema is derived from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property

SCHEMA_VERSION = 1


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    VOID = "void"


class Cause(StrEnum):
    """Why a run is void: always something outside the attempt."""

    PROVIDER_ERROR = "provider_error"
    NODE_LOST = "node_lost"
    PREEMPTED = "preempted"
    DRIVER_LOST = "driver_lost"
    STORAGE_ERROR = "storage_error"
    GPU_UNAVAILABLE = "gpu_unavailable"
    SANDBOX_ERROR = "sandbox_error"
    VALIDATOR_ERROR = "validator_error"
    CANCELLED = "cancelled"
    MANUAL = "manual"


class StopReason(StrEnum):
    """Why an agent stopped."""

    FINISHED = "finished"
    STEPS = "steps"
    TOKENS = "tokens"
    USD = "usd"
    MINUTES = "minutes"
    WALL_MINUTES = "wall_minutes"
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    OUTPUT = "output"
    CONTEXT = "context"
    REQUEST = "request"  # a 4xx that its own request earned
    AGENT_ERROR = "agent_error"  # the agent's own program broke
    UNVALIDATABLE = "unvalidatable"  # its submission breaks validation


@dataclass(frozen=True)
class Budget:
    """What one attempt may spend; None is no bound."""

    steps: int | None = 50
    minutes: float | None = 60.0
    wall_minutes: float | None = None
    tokens: int | None = None
    usd: float | None = None

    @property
    def wall_seconds(self) -> float:
        """The hard stop: three times the working time unless it is said."""
        if self.wall_minutes is not None:
            return self.wall_minutes * 60
        return (self.minutes if self.minutes is not None else 60.0) * 180


@dataclass(frozen=True)
class Usage:
    """What an attempt has spent so far."""

    steps: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = 0.0  # None as soon as one call has no known price
    model_seconds: float = 0.0
    wait_seconds: float = 0.0
    model_served: str | None = None

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class AgentSpec:
    """An agent, its model and its parameters, under a label that is unique in the study."""

    agent: str
    label: str
    digest: str
    model: str | None = None
    params: str = "{}"  # canonical JSON


@dataclass(frozen=True)
class Resources:
    cpus: float = 1.0
    gpus: float = 0.0
    memory_gb: float = 4.0
    disk_gb: float = 2.0


@dataclass(frozen=True)
class Run:
    """One request; its id is the digest of all of it but the label."""

    spec: AgentSpec
    task: str
    category: str
    task_digest: str
    profile: str
    instance: int
    seed: int
    budget: Budget
    gpus: float = 0.0
    samples: int = 1

    @cached_property
    def run_id(self) -> str:
        from mldevbench.digest import of_value

        budget = self.budget
        request = [
            self.spec.agent, self.spec.digest, self.spec.model, self.spec.params,
            self.task, self.task_digest, self.profile, self.instance, self.seed,
            [budget.steps, budget.minutes, budget.wall_minutes, budget.tokens, budget.usd],
            float(self.gpus), self.samples,
        ]  # fmt: skip
        return of_value(request, 16)


@dataclass(frozen=True)
class Check:
    """One thing verified, with what was expected and what was seen."""

    name: str
    passed: bool
    expected: str
    seen: str


@dataclass(frozen=True)
class Metric:
    name: str
    value: float


@dataclass(frozen=True)
class Verdict:
    checks: tuple[Check, ...]
    metrics: tuple[Metric, ...] = ()
    primary: str | None = None  # the metric that is the score, for tasks that have one

    @property
    def passed(self) -> bool:
        return bool(self.checks) and all(check.passed for check in self.checks)

    @property
    def score(self) -> float:
        """The primary metric, 0 if it never came to be measured; without one the share of checks that hold."""
        if self.primary is not None:
            return next((metric.value for metric in self.metrics if metric.name == self.primary), 0.0)
        return sum(check.passed for check in self.checks) / len(self.checks) if self.checks else 0.0


@dataclass(frozen=True)
class Snapshot:
    """A copy of the submission as it was after so much was spent."""

    number: int
    steps: int
    tokens: int
    usd: float | None
    minutes: float
    archive: str  # relative to the attempt's folder
    digest: str


@dataclass(frozen=True)
class Submitted:
    """What the working half of an attempt hands over, durable before it is validated."""

    run_id: str
    attempt: int
    archive: str  # where the submission lies, relative to the study
    digest: str
    stop_reason: StopReason
    detail: str
    usage: Usage
    started_at: datetime
    finished_at: datetime
    wall_seconds: float
    working_seconds: float
    isolation: str
    network: str
    node: str
    gpu_type: str | None = None
    gpu_shared: bool = False
    limits: str | None = None


@dataclass(frozen=True)
class AttemptRow:
    """One attempt in its last durable phase."""

    study: str
    run_id: str
    attempt: int
    phase: str  # started, submitted, graded, lost
    outcome: Outcome | None
    cause: Cause | None
    stop_reason: StopReason | None
    detail: str
    archive: str | None
    digest: str | None
    steps: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    cost_usd: float | None
    model_seconds: float
    wait_seconds: float
    model_served: str | None
    wall_seconds: float
    working_seconds: float
    gpu_seconds: float
    gpu_type: str | None
    gpu_shared: bool
    node: str | None
    isolation: str | None
    network: str | None
    started_at: datetime
    finished_at: datetime | None
    limits: str | None = None  # cgroup, or weak: watched, since no cgroup could be made


@dataclass(frozen=True)
class RunRow:
    """One run's result, as `runs/` holds it."""

    study: str
    run_id: str
    label: str
    agent: str
    model: str | None
    model_served: str | None
    params: str
    task: str
    category: str
    profile: str
    instance: int
    seed: int
    samples: int
    budget_steps: int | None
    budget_minutes: float | None
    budget_wall_minutes: float | None
    budget_tokens: int | None
    budget_usd: float | None
    outcome: Outcome
    cause: Cause | None
    stop_reason: StopReason | None
    score: float | None
    metrics: str
    attempts: int
    steps: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    reasoning_tokens: int
    total_tokens: int
    cost_usd: float | None
    spent_usd: float | None
    wall_seconds: float
    working_seconds: float
    model_seconds: float
    wait_seconds: float
    queue_seconds: float
    validate_seconds: float
    gpus: float
    gpu_seconds: float
    spent_gpu_seconds: float
    gpu_shared: bool
    gpu_type: str | None
    node: str | None
    isolation: str | None
    network: str | None
    started_at: datetime
    finished_at: datetime
    task_digest: str
    validator_digest: str
    agent_digest: str
    salt_digest: str
    mldevbench_version: str
    limits: str | None = None


@dataclass(frozen=True)
class CheckRow:
    study: str
    run_id: str
    attempt: int
    position: int
    name: str
    passed: bool
    expected: str
    seen: str


@dataclass(frozen=True)
class RegradeRow:
    """A stored submission judged again, beside what was said of it before."""

    study: str
    run_id: str
    attempt: int
    label: str
    task: str
    outcome: Outcome
    outcome_before: Outcome
    cause: Cause | None
    score: float | None
    score_before: float | None
    metrics: str
    validator_digest: str
    validator_digest_before: str
    validate_seconds: float
    regraded_at: datetime
    mldevbench_version: str
    repeat: int = 0  # of the same validator on the same submission


@dataclass(frozen=True)
class SnapshotRow:
    """A graded snapshot."""

    study: str
    run_id: str
    attempt: int
    number: int
    label: str
    task: str
    steps: int
    tokens: int
    usd: float | None
    minutes: float
    digest: str
    outcome: Outcome
    cause: Cause | None
    score: float | None
    metrics: str
    validator_digest: str
    validate_seconds: float


@dataclass(frozen=True)
class StepRow:
    """One action of a step; a step with several tool calls has several rows."""

    study: str
    run_id: str
    attempt: int
    step: int
    role: str
    tool: str | None
    arguments: str | None
    exit_code: int | None
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    used_steps: int
    used_tokens: int
    used_usd: float | None
    position: int = 0  # of the row in its attempt


@dataclass(frozen=True)
class Step:
    """What an agent records as it works: one model call, or one action that follows from it."""

    role: str  # model, tool, note
    text: str = ""
    tool: str | None = None
    arguments: str | None = None
    exit_code: int | None = None
    seconds: float = 0.0
    number: int = 0
    usage: Usage = field(default_factory=Usage)
    reasoning: str | None = None
    at: datetime | None = None
