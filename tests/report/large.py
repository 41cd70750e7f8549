"""A synthetic study of ten thousand runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from report.studies import Made, made, small

from mldevbench.records import Outcome, RunRow
from mldevbench.reference.paper import PUBLISHED

LABELS, TASKS, SEEDS = 5, 40, 50
SEEN = (Outcome.PASSED, Outcome.FAILED, Outcome.PASSED, Outcome.FAILED, Outcome.PASSED, Outcome.FAILED, Outcome.VOID)


def large(tasks: int = TASKS, seeds: int = SEEDS) -> Made:
    rows = [row for row in small() if row.outcome is not Outcome.VOID and row.attempts == 1]
    found = [
        _run(rows[(label + task + seed) % len(rows)], label, task, seed)
        for seed in range(seeds)
        for task in range(tasks)
        for label in range(LABELS)
    ]
    return made(found)


def _run(like: RunRow, label: int, task: int, seed: int) -> RunRow:
    draw = (label * 7919 + task * 104_729 + seed * 1_299_709) % 1000
    began = PUBLISHED + timedelta(seconds=40 * seed + task)
    outcome = Outcome.VOID if draw % 97 == 0 else SEEN[draw % (label + 2)]
    return replace(
        like, label=f"agent-{label}", task=f"task_{task:02d}", category=f"category_{task % 6}", seed=seed,
        task_digest=f"digest {task}", outcome=outcome, started_at=began, finished_at=began + timedelta(seconds=30),
        node=f"node-{draw % 8}", cost_usd=0.01 * (1 + draw % 50),
    )  # fmt: skip
