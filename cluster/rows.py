"""From what happened to the rows that say so; pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from mldevbench import __version__
from mldevbench.records import AttemptRow, Cause, Outcome, Run, RunRow, StopReason, Submitted, Usage, Verdict


@dataclass(frozen=True)
class Facts:
    """What is the same for every row of a study."""

    study: str
    salt_digest: str
    validator_digests: dict[str, str]


@dataclass(frozen=True)
class Ending:
    """How a run ended: with a verdict, or without one."""

    outcome: Outcome
    cause: Cause | None = None
    stop_reason: StopReason | None = None
    verdict: Verdict | None = None
    validate_seconds: float = 0.0
    detail: str = ""


def started_row(facts: Facts, run: Run, attempt: int, now: datetime) -> AttemptRow:
    nothing = Usage(cost_usd=None)
    return AttemptRow(
        facts.study, run.run_id, attempt, "started", None, None, None, "", None, None,
        *_usage(nothing), 0.0, 0.0, 0.0, None, False, None, None, None, now, None,
    )  # fmt: skip


def submitted_row(facts: Facts, run: Run, done: Submitted, gpus: float | None = None) -> AttemptRow:
    """Tell what an attempt handed over; it held as many GPUs as were asked for unless it is said otherwise."""
    held = run.gpus if gpus is None else gpus
    return AttemptRow(
        facts.study, run.run_id, done.attempt, "submitted", None, None, done.stop_reason, done.detail, done.archive,
        done.digest, *_usage(done.usage), done.wall_seconds, done.working_seconds, done.wall_seconds * held,
        done.gpu_type, done.gpu_shared, done.node, done.isolation, done.network, done.started_at, done.finished_at,
        done.limits,
    )  # fmt: skip


def ended_row(row: AttemptRow, ending: Ending, now: datetime) -> AttemptRow:
    phase = "lost" if ending.outcome is Outcome.VOID else "graded"
    return replace(
        row,
        phase=phase,
        outcome=ending.outcome,
        cause=ending.cause,
        stop_reason=ending.stop_reason or row.stop_reason,
        detail=ending.detail or row.detail,
        finished_at=row.finished_at or now,
    )


def run_row(
    facts: Facts, run: Run, attempts: list[AttemptRow], ending: Ending, queue_seconds: float, now: datetime
) -> RunRow:
    """Tell of the attempt that gave the outcome, and what all attempts cost together."""
    last, budget, verdict = attempts[-1], run.budget, ending.verdict
    metrics = {metric.name: metric.value for metric in verdict.metrics} if verdict else {}
    return RunRow(
        study=facts.study, run_id=run.run_id, label=run.spec.label, agent=run.spec.agent, model=run.spec.model,
        model_served=last.model_served, params=run.spec.params, task=run.task, category=run.category,
        profile=run.profile, instance=run.instance, seed=run.seed, samples=run.samples,
        budget_steps=budget.steps, budget_minutes=budget.minutes, budget_wall_minutes=budget.wall_minutes,
        budget_tokens=budget.tokens, budget_usd=budget.usd,
        outcome=ending.outcome, cause=ending.cause, stop_reason=ending.stop_reason or last.stop_reason,
        score=verdict.score if verdict else None, metrics=json.dumps(metrics, sort_keys=True), attempts=last.attempt,
        steps=last.steps, prompt_tokens=last.prompt_tokens, completion_tokens=last.completion_tokens,
        cached_tokens=last.cached_tokens, reasoning_tokens=last.reasoning_tokens,
        total_tokens=last.prompt_tokens + last.completion_tokens, cost_usd=last.cost_usd,
        spent_usd=_sum([row.cost_usd for row in attempts]),
        wall_seconds=last.wall_seconds, working_seconds=last.working_seconds, model_seconds=last.model_seconds,
        wait_seconds=last.wait_seconds, queue_seconds=queue_seconds, validate_seconds=ending.validate_seconds,
        gpus=_gpus(last, run), gpu_seconds=last.gpu_seconds, spent_gpu_seconds=sum(row.gpu_seconds for row in attempts),
        gpu_shared=last.gpu_shared, gpu_type=last.gpu_type, node=last.node, isolation=last.isolation,
        network=last.network, started_at=last.started_at, finished_at=now,
        task_digest=run.task_digest, validator_digest=facts.validator_digests[run.task],
        agent_digest=run.spec.digest, salt_digest=facts.salt_digest, mldevbench_version=__version__,
        limits=last.limits,
    )  # fmt: skip


def restored(row: AttemptRow) -> Submitted:
    """Return what a submitted attempt had handed over."""
    assert row.archive and row.digest and row.finished_at
    usage = Usage(
        row.steps, row.prompt_tokens, row.completion_tokens, row.cached_tokens, row.reasoning_tokens, row.cost_usd,
        row.model_seconds, row.wait_seconds, row.model_served,
    )  # fmt: skip
    return Submitted(
        row.run_id, row.attempt, row.archive, row.digest, row.stop_reason or StopReason.FINISHED, row.detail, usage,
        row.started_at, row.finished_at, row.wall_seconds, row.working_seconds, row.isolation or "", row.network or "",
        row.node or "", row.gpu_type, row.gpu_shared, row.limits,
    )  # fmt: skip


def _usage(usage: Usage) -> tuple[int, int, int, int, int, float | None, float, float, str | None]:
    return (
        usage.steps, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.reasoning_tokens,
        usage.cost_usd, usage.model_seconds, usage.wait_seconds, usage.model_served,
    )  # fmt: skip


def _gpus(row: AttemptRow, run: Run) -> float:
    """Return how many GPUs an attempt held, which may be fewer than were asked for."""
    return round(row.gpu_seconds / row.wall_seconds, 6) if row.wall_seconds else run.gpus


def _sum(costs: list[float | None]) -> float | None:
    return None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None)


def now_utc() -> datetime:
    return datetime.now(UTC)
