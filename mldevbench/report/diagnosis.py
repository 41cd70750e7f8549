"""Why runs ended as they did: how agents stopped, what they failed first, what was lost to causes outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mldevbench.records import AttemptRow, CheckRow, Outcome, RunRow, StopReason
from mldevbench.report.evidence import Evidence
from mldevbench.report.grouping import Group, groups_of
from mldevbench.report.naming import task_name, tasks_in_order
from mldevbench.report.table import Table
from mldevbench.report.wording import UNKNOWN, dollars, short

BUDGET = {StopReason.STEPS, StopReason.TOKENS, StopReason.USD, StopReason.MINUTES, StopReason.WALL_MINUTES}
LIMIT = {StopReason.MEMORY, StopReason.PROCESSES, StopReason.DISK, StopReason.OUTPUT, StopReason.CONTEXT}


def stops_by_outcome(evidence: Evidence) -> Table:
    """Tell apart who ran out of budget, who ended by itself and who broke."""
    body = []
    for group in groups_of(evidence.rows):
        counts = Counter((row.stop_reason, row.outcome) for row in group.rows)
        for reason in sorted({reason for reason, _ in counts}, key=lambda one: (one is None, one or "")):
            numbers = [counts[reason, outcome] for outcome in Outcome]
            body.append((group.name, reason or "not told", meaning(reason), *map(str, numbers), str(sum(numbers))))
    columns = ("label", "stop reason", "meaning", *map(str, Outcome), "runs")
    return Table("How agents stopped, by outcome", columns, tuple(body), name="stops")


def meaning(reason: StopReason | None) -> str:
    if reason is None:
        return "unknown"
    if reason in BUDGET:
        return "out of budget"
    if reason in LIMIT:
        return "at a limit of its own making"
    return "said it was done, or gave up" if reason is StopReason.FINISHED else "broke by its own doing"


def first_failing_checks(evidence: Evidence) -> Table:
    """Name the check that each agent's failed runs met first, by task."""
    groups = groups_of(evidence.rows)
    body = []
    for task, _ in tasks_in_order(row for row in evidence.rows if row.outcome is Outcome.FAILED):
        body.append((task_name(task), *(_first(group, task, evidence.checks) for group in groups)))
    note = "The most frequent first failing check, with how many of the failed runs met it first."
    return Table(
        "First failing check by task", ("task", *(group.name for group in groups)), tuple(body), note, "checks"
    )


def _first(group: Group, task: str, checks: Mapping[str, Sequence[CheckRow]]) -> str:
    failed = [row for row in group.runs(task) if row.outcome is Outcome.FAILED]
    if not failed:
        return UNKNOWN
    (name, count), *others = Counter(_met(row, checks.get(row.run_id, ())) for row in failed).most_common()
    return f"{name} ({count}/{len(failed)})" + (f", {len(others)} other" if others else "")


def _met(row: RunRow, checks: Sequence[CheckRow]) -> str:
    broken = sorted((check.position, check.name) for check in checks if not check.passed)
    return broken[0][1] if broken else f"no check: {row.stop_reason or 'not told'}"


def void_by_cause(evidence: Evidence) -> Table:
    """Count void runs and lost attempts by cause, agent and node."""
    runs: Counter[tuple[str, str, str]] = Counter()
    lost: Counter[tuple[str, str, str]] = Counter()
    for group in groups_of(evidence.rows):
        for row in group.rows:
            if row.outcome is Outcome.VOID:
                runs[row.cause or "not told", group.name, row.node or UNKNOWN] += 1
            for attempt in lost_attempts(evidence.attempts.get(row.run_id, ())):
                lost[attempt.cause or "not told", group.name, attempt.node or UNKNOWN] += 1
    body = [(*key, str(runs[key]), str(lost[key])) for key in sorted(runs.keys() | lost.keys())]
    columns = ("cause", "label", "node", "void runs", "lost attempts")
    return Table("Void by cause, label and node", columns, tuple(body), name="void")


def lost_attempts(attempts: Sequence[AttemptRow]) -> list[AttemptRow]:
    return [attempt for attempt in attempts if attempt.phase == "lost"]


def spend_on_lost(evidence: Evidence) -> Table:
    """Say what went into attempts that gave no outcome."""
    body = []
    for group in groups_of(evidence.rows):
        attempts = [one for row in group.rows for one in lost_attempts(evidence.attempts.get(row.run_id, ()))]
        spent, lost = _sum([row.spent_usd for row in group.rows]), _sum([_lost_usd(row) for row in group.rows])
        gpu = sum(row.spent_gpu_seconds for row in group.rows)
        lost_gpu = sum(_lost_gpu(row) for row in group.rows)
        repeated = sum(row.attempts > 1 or row.outcome is Outcome.VOID for row in group.rows)
        body.append(
            (group.name, str(repeated), str(len(attempts)), dollars(lost), dollars(spent), short(lost_gpu), short(gpu))
        )
    columns = ("label", "runs hit", "lost attempts", "$ lost", "$ in all", "GPU-seconds lost", "GPU-seconds in all")
    return Table("Spend on lost attempts", columns, tuple(body), name="lost")


def _lost_usd(row: RunRow) -> float | None:
    if row.spent_usd is None or row.outcome is Outcome.VOID:
        return row.spent_usd
    return None if row.cost_usd is None else row.spent_usd - row.cost_usd


def _lost_gpu(row: RunRow) -> float:
    return row.spent_gpu_seconds - (0.0 if row.outcome is Outcome.VOID else row.gpu_seconds)


def _sum(values: Sequence[float | None]) -> float | None:
    """Sum what is known; all unknown is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
