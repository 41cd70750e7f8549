"""Result rows and study folders made to order, as the store holds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from mldevbench import frozen
from mldevbench.digest import of_value
from mldevbench.records import AgentSpec, Budget, Cause, Outcome, Run, RunRow
from mldevbench.reference import paper_rows
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.study import Request, TaskRef

OUTCOMES = {"1": Outcome.PASSED, "0": Outcome.FAILED, "v": Outcome.VOID}


def row(label: str, task: str, seed: int, outcome: str, **changes: Any) -> RunRow:
    """Return one mini row; `outcome` is 1, 0 or v."""
    plain = replace(
        paper_rows()[0],
        study="made", label=label, task=task, seed=seed, outcome=OUTCOMES[outcome],
        cause=Cause.NODE_LOST if outcome == "v" else None,
        profile="mini", isolation="bubblewrap", network="none", node="node-1", budget_minutes=60.0,
        task_digest=f"digest of {task}", salt_digest="salt", cost_usd=0.5, spent_usd=0.5, steps=10,
    )  # fmt: skip
    changed = replace(plain, **changes)
    key = [changed.label, changed.task, changed.seed, changed.instance, changed.budget_steps, changed.study]
    return replace(changed, run_id=of_value(key, 16))


def rows_of(label: str, tasks: dict[str, str], **changes: Any) -> list[RunRow]:
    """Return the rows of a label: each task with a word of outcomes, one per seed."""
    return [
        row(label, task, seed, outcome, **changes) for task, word in tasks.items() for seed, outcome in enumerate(word)
    ]


def make_study(storage: Path, name: str, rows: Iterable[RunRow]) -> StudyStore:
    """Write a study folder that holds these rows and asked for one seed more."""
    listed = list(rows)
    specs = {label: AgentSpec("react", label, "digest", f"scripted/{label}") for label in {one.label for one in listed}}
    tasks = {one.task: one for one in listed}
    request = Request(
        agents=tuple(specs.values()),
        tasks=tuple(TaskRef(one.task, one.category, one.task_digest, "v", 0.0, 1.0) for one in tasks.values()),
        profile="mini",
        seeds=tuple(range(max(one.seed for one in listed) + 2)),
        instances=1,
        budgets=tuple(dict.fromkeys(_budget(one) for one in listed)),
        salt_digest="salt",
    )
    store = StudyStore(open_place(str(storage / name)))
    frozen.add_request(store.place, name, request)
    known = [replace(one, study=name, run_id=_run_id(one, specs[one.label])) for one in listed]
    for start in range(0, len(known), 256):
        store.runs.put(start // 256, known[start : start + 256])
    return store


def _budget(one: RunRow) -> Budget:
    return Budget(one.budget_steps, one.budget_minutes)


def _run_id(one: RunRow, spec: AgentSpec) -> str:
    return Run(spec, one.task, one.category, one.task_digest, one.profile, one.instance, one.seed, _budget(one)).run_id
