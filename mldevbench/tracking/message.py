"""What the driver tells the process that speaks to W&B."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mldevbench.records import RunRow
from mldevbench.store.place import Place


@dataclass(frozen=True)
class Count:
    """Where one label stands; cumulative, so that a message that gets lost changes nothing later."""

    planned: int
    passed: int = 0
    failed: int = 0
    void: int = 0
    spent_usd: float | None = 0.0
    gpu_seconds: float = 0.0
    tokens: int = 0

    @property
    def done(self) -> int:
        return self.passed + self.failed


@dataclass(frozen=True)
class Subject:
    """One W&B run: a label of a study."""

    label: str
    run_id: str  # W&B's own, the same in every call
    planned: int
    config: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Opening:
    study: str
    place: Place
    project: str
    mode: Literal["offline", "online"]
    folder: str
    subjects: tuple[Subject, ...]


@dataclass(frozen=True)
class Point:
    label: str
    count: Count
    running: int
    row: RunRow | None = None


@dataclass(frozen=True)
class Closing:
    """The driver has ended; what is left to say are the tables."""
