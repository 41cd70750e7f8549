"""Pairing: which runs of two labels may be set against each other, and why not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from mldevbench.budget_key import BudgetKey, budget_of
from mldevbench.errors import UserError
from mldevbench.rates import by_task
from mldevbench.records import RunRow
from mldevbench.subject import Subject


@dataclass(frozen=True)
class Wish:
    """What a person says of the comparison."""

    budget: Mapping[str, float] = field(default_factory=dict)
    exclude_tasks: Collection[str] = ()
    across_profiles: bool = False


@dataclass(frozen=True)
class Pair:
    """Two labels on common ground: the same tasks and instances; notes say what differs all the same."""

    first: Subject
    second: Subject
    tasks: tuple[str, ...]
    notes: tuple[str, ...] = ()


def pair(first: Subject, second: Subject, wish: Wish) -> Pair:
    """Return both labels' runs on their common tasks and instances; refuse what can't be compared."""
    sides = [_chosen(subject, wish) for subject in (first, second)]
    published = first.published or second.published
    refused = [*_profiles(sides, wish, published), *_budgets(sides, published)]
    if not published:
        refused += _grounds(sides)
    _refuse(first, second, refused)
    common = _common(sides)
    if not common:
        raise UserError(f"{first.name} and {second.name} have no task in common; nothing can be paired")
    paired = [_restricted(side, common) for side in sides]
    if not published:
        _refuse(first, second, _changed_tasks(paired))
    tasks = tuple(sorted({task for task, _ in common}))
    notes = [*_left_out(sides, tasks), *_flags(paired, published, first, second)]
    return Pair(_with(first, paired[0]), _with(second, paired[1]), tasks, tuple(notes))


def _refuse(first: Subject, second: Subject, reasons: Sequence[str]) -> None:
    if reasons:
        raise UserError(f"{first.name} can't be compared with {second.name}: {'; '.join(reasons)}")


def _with(subject: Subject, rows: Sequence[RunRow]) -> Subject:
    return Subject(subject.study, subject.label, tuple(rows))


def _chosen(subject: Subject, wish: Wish) -> list[RunRow]:
    rows = [row for row in subject.rows if row.task not in wish.exclude_tasks]
    if wish.budget and not subject.published:
        budgets = sorted({str(budget_of(row)) for row in rows})
        rows = [row for row in rows if budget_of(row).fits(wish.budget)]
        if not rows:
            raise UserError(f"{subject.name}: no run has that budget; it has {' and '.join(budgets)}")
    return rows


def _profiles(sides: Sequence[Sequence[RunRow]], wish: Wish, published: bool) -> list[str]:
    first, second = ({row.profile for row in side} for side in sides)
    if first == second and len(first) == 1:
        return []
    said = f"profiles {_said(first)} and {_said(second)}"
    if not published:
        return [f"{said} are never pooled"]
    return [] if wish.across_profiles else [f"{said}; say --across-profiles if that is meant"]


def _budgets(sides: Sequence[Sequence[RunRow]], published: bool) -> list[str]:
    first, second = ({budget_of(row) for row in side} for side in sides)
    # The paper tells its steps only: a single budget is set against them.
    several = max(first, second, key=len) if published else first | second
    if len(several) == 1:
        return []
    if published or first & second:
        return [f"several budgets; choose one, such as --budget {_short(several)}"]
    return [f"budgets {_said(map(str, first))} and {_said(map(str, second))}"]


def _short(budgets: Collection[BudgetKey]) -> str:
    """Return the budget nearest to what a person would type: only the units in which they differ."""
    some = sorted(budgets, key=str)[0]
    differing = [name for name in BudgetKey._fields if len({getattr(one, name) for one in budgets}) > 1]
    return ",".join(f"{name}={value:g}" for name in differing if (value := getattr(some, name)) is not None) or str(
        some
    )


GROUNDS: tuple[tuple[str, Callable[[RunRow], object], str], ...] = (
    ("sandboxes", lambda row: row.isolation, "are never pooled"),
    ("network modes", lambda row: row.network, "are never pooled"),
    ("samples", lambda row: row.samples, "give different chances"),
    ("salts", lambda row: row.salt_digest[:8] or None, "draw different instances; import one's salt and run again"),
)


def _grounds(sides: Sequence[Sequence[RunRow]]) -> list[str]:
    """Name what must be one and the same on both sides; a run lost early may not know it."""
    found = []
    for name, read, reason in GROUNDS:
        first, second = ({read(row) for row in side} - {None} for side in sides)
        if len(first | second) > 1:
            found.append(f"{name} {_said(map(str, first))} and {_said(map(str, second))} {reason}")
    return found


def _common(sides: Sequence[Sequence[RunRow]]) -> set[tuple[str, int]]:
    first, second = ({(row.task, row.instance) for row in side} for side in sides)
    return first & second


def _restricted(rows: Sequence[RunRow], common: Collection[tuple[str, int]]) -> list[RunRow]:
    return [row for row in rows if (row.task, row.instance) in common]


def _changed_tasks(sides: Sequence[Sequence[RunRow]]) -> list[str]:
    digests = {task: {row.task_digest for row in rows} for task, rows in by_task(chain(*sides)).items()}
    changed = sorted(task for task, seen in digests.items() if len(seen) > 1)
    remedy = " ".join(f"--exclude-task {task}" for task in changed[:3]) + (" …" if len(changed) > 3 else "")
    return [f"{', '.join(changed)} changed between their runs; run again or leave out: {remedy}"] if changed else []


def _left_out(sides: Sequence[Sequence[RunRow]], tasks: Collection[str]) -> list[str]:
    alone = sorted({row.task for row in chain(*sides)} - set(tasks))
    return [f"only one side ran {_listed(alone)}: left out"] if alone else []


FLAGS: tuple[tuple[str, Callable[[RunRow], object]], ...] = (
    ("judged by different validators (regrade to judge alike)", lambda row: (row.task, row.validator_digest)),
    ("different GPUs", lambda row: row.gpu_type),
    ("different numbers of GPUs", lambda row: (row.task, row.gpus)),
    ("different versions of mldevbench", lambda row: row.mldevbench_version),
)


def _flags(sides: Sequence[Sequence[RunRow]], published: bool, first: Subject, second: Subject) -> list[str]:
    found = []
    for subject, rows in zip((first, second), sides, strict=True):
        if len({row.agent_digest for row in rows}) > 1:
            found.append(f"{subject.name}: the agent's files changed between its runs")
        if len({row.model_served for row in rows} - {None}) > 1:
            found.append(f"{subject.name}: the provider served more than one model version")
    if published and not (first.published and second.published):
        return [*found, "the paper's tasks, data and checks are not ours: same names, no common digests"]
    for name, read in FLAGS:
        seen = [{read(row) for row in side} - {None} for side in sides]
        if seen[0] != seen[1]:
            found.append(name)
    return found


def _said(values: Collection[str] | map[str]) -> str:
    return ", ".join(sorted(values)) or "none"


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
