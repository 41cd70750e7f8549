"""Where each label of a study stands, kept by the driver; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mldevbench.records import Outcome, RunRow
from mldevbench.tracking.message import Count, Subject


class Counting:
    """Counts by label; a void that is made good stops counting."""

    def __init__(self, subjects: Iterable[Subject], rows: Iterable[RunRow]) -> None:
        self.by_label = {subject.label: Count(subject.planned) for subject in subjects}
        self._void: dict[str, RunRow] = {}
        for row in rows:
            self.add(row)

    def add(self, row: RunRow) -> Count | None:
        """Count a result; None for a label that isn't ours."""
        if row.label not in self.by_label:
            return None
        before = self._void.pop(row.run_id, None)
        count = self.by_label[row.label]
        if before:
            count = replace(
                count,
                void=count.void - 1,
                spent_usd=_plus(count.spent_usd, before.spent_usd, -1),
                gpu_seconds=count.gpu_seconds - before.spent_gpu_seconds,
                tokens=count.tokens - before.total_tokens,
            )
        if row.outcome is Outcome.VOID:
            self._void[row.run_id] = row
        self.by_label[row.label] = replace(
            count,
            passed=count.passed + (row.outcome is Outcome.PASSED),
            failed=count.failed + (row.outcome is Outcome.FAILED),
            void=count.void + (row.outcome is Outcome.VOID),
            spent_usd=_plus(count.spent_usd, row.spent_usd, 1),
            gpu_seconds=count.gpu_seconds + row.spent_gpu_seconds,
            tokens=count.tokens + row.total_tokens,
        )
        return self.by_label[row.label]


def _plus(usd: float | None, more: float | None, sign: int) -> float | None:
    return None if usd is None or more is None else usd + sign * more
