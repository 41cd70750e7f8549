"""Studies made to order for reports and pages: runs with attempts, checks, snapshots and trajectories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from stats.making import row

from mldevbench import frozen
from mldevbench.records import (
    AgentSpec,
    AttemptRow,
    Budget,
    Cause,
    CheckRow,
    Outcome,
    Run,
    RunRow,
    SnapshotRow,
    Step,
    StopReason,
    Usage,
)
from mldevbench.reference.paper import PUBLISHED
from mldevbench.report.evidence import Evidence, Gathered, evidence_of
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.study import Request, TaskRef
from mldevbench.trajectory import segment_name, to_line

CATEGORIES = {
    "nan_losses": "debugging",
    "vit_debugging": "debugging",
    "mla": "model_implementation",
    "boolq": "performance",
}


@dataclass(frozen=True)
class Made:
    """All rows of a study, with the run ids that its plan would give."""

    rows: list[RunRow]
    request: Request
    attempts: list[AttemptRow] = field(default_factory=list)
    checks: list[CheckRow] = field(default_factory=list)
    snapshots: list[SnapshotRow] = field(default_factory=list)

    def evidence(self, partial: bool = False) -> Evidence:
        from mldevbench.plan import plan

        planned = list(plan([self.request]).runs)
        gathered = Gathered(self.rows, planned, self.checks, self.attempts, [], self.snapshots)
        return evidence_of(["made"], gathered, partial)

    def store(self, storage: Path, name: str = "made") -> StudyStore:
        store = StudyStore(open_place(str(storage / name)))
        frozen.add_request(store.place, name, self.request)
        ids = list(dict.fromkeys(one.run_id for one in self.rows))
        for start in range(0, len(ids), 256):
            chosen = set(ids[start : start + 256])
            for dataset, rows in (
                (store.attempts, self.attempts), (store.runs, self.rows), (store.checks, self.checks),
                (store.snapshots, self.snapshots),
            ):  # fmt: skip
                part = [one for one in rows if one.run_id in chosen]
                if part:
                    dataset.put(start // 256, part)  # pyright: ignore[reportArgumentType] - each with its own rows
        return store


def made(rows: Iterable[RunRow], more_seeds: int = 0, snapshots: bool = False) -> Made:
    """Return a study whose request asks for exactly these rows, and for so many seeds more."""
    listed = list(rows)
    labels = dict.fromkeys(one.label for one in listed)
    specs = {label: AgentSpec("react", label, "digest", f"scripted/{label}") for label in labels}
    tasks = {one.task: one for one in listed}
    request = Request(
        agents=tuple(specs.values()),
        tasks=tuple(TaskRef(one.task, one.category, one.task_digest, "v", one.gpus, 1.0) for one in tasks.values()),
        profile="mini",
        seeds=tuple(range(max(one.seed for one in listed) + 1 + more_seeds)),
        instances=1 + max(one.instance for one in listed),
        budgets=tuple(dict.fromkeys(_budget(one) for one in listed)),
        salt_digest="salt",
    )
    known = [replace(one, run_id=_run(one, specs[one.label]).run_id) for one in listed]
    return Made(
        known, request, [one for row in known for one in _attempts(row)],
        [one for row in known for one in _checks(row)],
        [one for row in known for one in _snapshots(row)] if snapshots else [],
    )  # fmt: skip


def small(**changes: Any) -> list[RunRow]:
    """Return two agents on four tasks with six seeds: successes, failures, voids, a retry, GPUs, costs."""
    outcomes = {
        "good": {"nan_losses": "111111", "vit_debugging": "110110", "mla": "101v11", "boolq": "010010"},
        "poor": {"nan_losses": "110011", "vit_debugging": "0v0010", "mla": "000000", "boolq": "000010"},
    }
    rows = []
    for label, tasks in outcomes.items():
        for place, (task, word) in enumerate(tasks.items()):
            rows += [_varied(label, task, seed, mark, place, changes) for seed, mark in enumerate(word)]
    return rows


def _varied(label: str, task: str, seed: int, mark: str, place: int, changes: dict[str, Any]) -> RunRow:
    retried = task == "boolq" and seed == 0
    began = PUBLISHED + timedelta(seconds=40 * seed + 7 * place)
    wall = 30.0 + 3 * place + seed
    usual = {
        "category": CATEGORIES[task], "steps": 5 + 7 * place + seed, "cost_usd": 0.1 + 0.05 * place,
        "spent_usd": (0.1 + 0.05 * place) * (2 if retried else 1), "attempts": 2 if retried else 1,
        "gpus": 1.0, "gpu_seconds": wall, "spent_gpu_seconds": wall * (2 if retried else 1), "wall_seconds": wall,
        "working_seconds": wall - 2, "model_seconds": wall / 3, "wait_seconds": 1.5, "validate_seconds": 4.0,
        "queue_seconds": 2.0, "started_at": began, "finished_at": began + timedelta(seconds=wall),
        "node": f"node-{seed % 2}", "total_tokens": 1000 * (place + 1),
        "stop_reason": None if mark == "v" else StopReason.STEPS if task == "boolq" else StopReason.FINISHED,
    }  # fmt: skip
    return row(label, task, seed, mark, **(usual | changes))


def _budget(one: RunRow) -> Budget:
    return Budget(one.budget_steps, one.budget_minutes)


def _run(one: RunRow, spec: AgentSpec) -> Run:
    return Run(
        spec, one.task, one.category, one.task_digest, one.profile, one.instance, one.seed, _budget(one), one.gpus
    )


def _attempts(one: RunRow) -> list[AttemptRow]:
    found = []
    for number in range(1, one.attempts + 1):
        lost = number < one.attempts or one.outcome is Outcome.VOID
        found.append(
            AttemptRow(
                study=one.study,
                run_id=one.run_id,
                attempt=number,
                phase="lost" if lost else "graded",
                outcome=Outcome.VOID if lost else one.outcome,
                cause=Cause.NODE_LOST if lost else None,
                stop_reason=one.stop_reason,
                detail="the node went away" if lost else "",
                archive=None,
                digest=None,
                steps=one.steps,
                prompt_tokens=0,
                completion_tokens=0,
                cached_tokens=0,
                reasoning_tokens=0,
                cost_usd=one.cost_usd,
                model_seconds=one.model_seconds,
                wait_seconds=one.wait_seconds,
                model_served=None,
                wall_seconds=one.wall_seconds,
                working_seconds=one.working_seconds,
                gpu_seconds=one.gpu_seconds,
                gpu_type=None,
                gpu_shared=False,
                node=one.node,
                isolation=one.isolation,
                network=one.network,
                started_at=one.started_at,
                finished_at=one.finished_at,
            )
        )
    return found


def _checks(one: RunRow) -> list[CheckRow]:
    if one.outcome is Outcome.VOID:
        return []
    passed = one.outcome is Outcome.PASSED
    said = [
        ("protected files", True, "unchanged", "unchanged"),
        ("loss is finite", passed, "a number", "1.0" if passed else "nan"),
    ]
    return [
        CheckRow(one.study, one.run_id, one.attempts, place, name, held, expected, seen)
        for place, (name, held, expected, seen) in enumerate(said)
    ]


def _snapshots(one: RunRow) -> list[SnapshotRow]:
    if one.outcome is Outcome.VOID:
        return []
    passed = one.outcome is Outcome.PASSED
    return [
        SnapshotRow(
            study=one.study,
            run_id=one.run_id,
            attempt=one.attempts,
            number=number,
            label=one.label,
            task=one.task,
            steps=steps,
            tokens=100 * steps,
            usd=0.01 * steps,
            minutes=steps / 10,
            digest=f"d{number}",
            outcome=Outcome.PASSED if passed and steps >= one.steps // 2 else Outcome.FAILED,
            cause=None,
            score=None,
            metrics="{}",
            validator_digest="v",
            validate_seconds=0.1,
        )
        for number, steps in enumerate(range(2, one.steps, 3))
    ]


def write_trajectory(store: StudyStore, run_id: str, steps: Sequence[Step], attempt: int = 1) -> None:
    data = "".join(to_line(step) + "\n" for step in steps).encode("utf-8", "surrogatepass")
    store.place.write(f"artifacts/{run_id}/{attempt}/{segment_name(0)}", data)


def usual_steps(count: int = 6) -> list[Step]:
    """Return turns as a ReAct agent takes them."""
    found = []
    for number in range(1, count + 1):
        at = PUBLISHED + timedelta(seconds=12 * number)
        usage = Usage(1, 900 + 40 * number, 60, cost_usd=0.004)
        found.append(
            Step("model", f"I look at part {number} of the problem.", number=number, usage=usage, seconds=2.5, at=at)
        )
        found.append(
            Step(
                "tool",
                f"epoch {number}: loss nan\n" * 4,
                tool="shell",
                arguments=f"python train.py --epoch {number}",
                exit_code=number % 2,
                number=number,
                seconds=5.0,
                at=at + timedelta(seconds=5),
            )
        )
    return found
