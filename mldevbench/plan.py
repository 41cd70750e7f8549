"""A plan: the study expanded into runs; a pure function of requests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

from mldevbench.records import Run
from mldevbench.study import Request


@dataclass(frozen=True)
class Plan:
    runs: tuple[Run, ...]

    def __len__(self) -> int:
        return len(self.runs)


def plan(requests: Iterable[Request]) -> Plan:
    """Expand requests into runs, each once, seeds outermost: a study that stops early has whole seeds."""
    runs: dict[str, Run] = {}
    for request in requests:
        for seed, instance, budget, task, spec in product(
            request.seeds,
            range(request.first_instance, request.instances),
            request.budgets,
            request.tasks,
            request.agents,
        ):
            run = Run(
                spec, task.id, task.category, task.task_digest, request.profile, instance, seed, budget, task.gpus,
                request.samples,
            )  # fmt: skip
            runs.setdefault(run.run_id, run)
    return Plan(tuple(runs.values()))
