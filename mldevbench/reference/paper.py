"""The paper's tables as result rows; what was not published is null, never 0."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from mldevbench import yamlfile
from mldevbench.digest import of_value
from mldevbench.records import Outcome, RunRow
from mldevbench.yamlfile import Strict

PAPER = "paper"
PUBLISHED = datetime(2025, 2, 3, tzinfo=UTC)


class AgentEntry(Strict):
    agent: str
    model: str
    summary: str


class TaskEntry(Strict):
    passed: list[str]
    usd: dict[str, float] = {}
    tokens: dict[str, int] = {}


class PaperFile(Strict):
    steps: int
    agents: dict[str, AgentEntry]
    tasks: dict[str, dict[str, TaskEntry]]


@cache
def paper_rows() -> tuple[RunRow, ...]:
    """Return one row per agent and task."""
    paper = yamlfile.load(Path(__file__).with_name("paper.yaml"), PaperFile)
    return tuple(
        _row(paper, label, category, task, entry)
        for label in paper.agents
        for category, tasks in paper.tasks.items()
        for task, entry in tasks.items()
    )


def _row(paper: PaperFile, label: str, category: str, task: str, entry: TaskEntry) -> RunRow:
    agent = paper.agents[label]
    tokens, usd = entry.tokens.get(label, 0), entry.usd.get(label)
    return RunRow(
        study=PAPER,
        run_id=of_value([PAPER, label, task], 16),
        label=label,
        agent=agent.agent,
        model=agent.model,
        model_served=None,
        params="{}",
        task=task,
        category=category,
        profile="full",
        instance=0,
        seed=0,
        samples=1,
        budget_steps=paper.steps,
        budget_minutes=None,
        budget_wall_minutes=None,
        budget_tokens=None,
        budget_usd=None,
        outcome=Outcome.PASSED if label in entry.passed else Outcome.FAILED,
        cause=None,
        stop_reason=None,
        score=None,
        metrics="{}",
        attempts=1,
        steps=0,
        prompt_tokens=0,
        completion_tokens=0,
        cached_tokens=0,
        reasoning_tokens=0,
        total_tokens=tokens,
        cost_usd=usd,
        spent_usd=usd,
        wall_seconds=0.0,
        working_seconds=0.0,
        model_seconds=0.0,
        wait_seconds=0.0,
        queue_seconds=0.0,
        validate_seconds=0.0,
        gpus=0.0,
        gpu_seconds=0.0,
        spent_gpu_seconds=0.0,
        gpu_shared=False,
        gpu_type=None,
        node=None,
        isolation=None,
        network=None,
        started_at=PUBLISHED,
        finished_at=PUBLISHED,
        task_digest=PAPER,
        validator_digest=PAPER,
        agent_digest=PAPER,
        salt_digest=PAPER,
        mldevbench_version=PAPER,
    )
