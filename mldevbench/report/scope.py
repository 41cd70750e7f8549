"""What a report rests on: which runs count, how many were asked for, and the words that say so in every title."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from mldevbench.errors import UserError
from mldevbench.records import Outcome, Run, RunRow
from mldevbench.report.grouping import groups_of
from mldevbench.report.wording import counted, span


@dataclass(frozen=True)
class Scope:
    """The rows that count, of those that were planned."""

    studies: tuple[str, ...]
    rows: tuple[RunRow, ...]
    planned: int
    finished: int
    partial: bool
    left_out: int = 0

    @property
    def complete(self) -> bool:
        return self.finished >= self.planned

    @property
    def void(self) -> int:
        return sum(row.outcome is Outcome.VOID for row in self.rows)

    @property
    def profiles(self) -> str:
        return " and ".join(sorted({row.profile for row in self.rows})) or "unknown"

    @property
    def isolations(self) -> str:
        return " and ".join(sorted({row.isolation for row in self.rows if row.isolation})) or "not told"

    @cached_property
    def repeats(self) -> str:
        """K: how many runs a task has, by task and column."""
        counts: list[int] = []
        for group in groups_of(self.rows):
            tasks: dict[str, int] = defaultdict(int)
            for row in group.rows:
                tasks[row.task] += 1
            counts += tasks.values()
        return span(counts)

    @cached_property
    def heading(self) -> str:
        """Return what every title carries: profile, K, void count, isolation, and how much of the study."""
        weak = "weak sandbox: process" if self.isolations == "process" else f"sandbox {self.isolations}"
        parts = [f"profile {self.profiles}", f"K = {self.repeats}", f"{self.void} void", weak]
        if not self.complete:
            parts.append(f"incomplete: {self.finished:,} of {self.planned:,} runs")
            parts.append("partial seeds included" if self.partial else "complete seeds only")
        return ", ".join(parts)

    @property
    def notes(self) -> list[str]:
        found = []
        if self.left_out:
            found.append(f"{counted(self.left_out, 'run')} of incomplete seeds left out; --partial counts them")
        if len({row.isolation for row in self.rows if row.isolation}) > 1:
            found.append("these runs had different sandboxes; their rates are not comparable")
        if len({row.profile for row in self.rows}) > 1:
            found.append("these runs had different profiles, which are different benchmarks")
        return found


def scope_of(
    studies: Sequence[str], rows: Iterable[RunRow], planned: Iterable[Run] = (), partial: bool = False
) -> Scope:
    """Choose the rows that count: whole seeds, or everything there is."""
    listed = list(rows)
    asked = list(planned)
    known = {row.run_id for row in listed} | {run.run_id for run in asked}
    kept = listed if partial else _whole_seeds(listed, asked)
    if listed and not kept:
        raise UserError(
            f"{', '.join(studies)}: no seed is complete ({len(listed)} of {len(known)} runs have a result); "
            "--partial shows what is there"
        )
    return Scope(tuple(studies), tuple(kept), len(known), len(listed), partial, len(listed) - len(kept))


def _whole_seeds(rows: Sequence[RunRow], planned: Collection[Run]) -> list[RunRow]:
    done = {row.run_id for row in rows}
    broken = {(run.spec.label, run.seed) for run in planned if run.run_id not in done}
    seeds = {seed for _, seed in broken}
    return [row for row in rows if row.seed not in seeds]
