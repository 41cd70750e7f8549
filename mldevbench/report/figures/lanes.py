"""Who held what when: attempts laid into lanes of a node, as many as were used at once."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from mldevbench.records import AttemptRow, RunRow
from mldevbench.report.evidence import Evidence


@dataclass(frozen=True)
class Span:
    """One attempt's stay on a node, in seconds since the study began."""

    node: str
    run_id: str
    label: str
    task: str
    attempt: int
    phase: str
    start: float
    end: float  # of the agent's work
    judged: float  # of validation, equal to `end` where none was measured
    queued: float  # seconds it waited before
    gpus: float
    wait_seconds: float
    lane: int = 0


@dataclass(frozen=True)
class Node:
    name: str
    spans: tuple[Span, ...]
    lanes: int

    @property
    def busy(self) -> float:
        """The share of the lanes' time, from the node's first moment to its last, that was held."""
        if not self.spans:
            return 0.0
        length = max(span.end for span in self.spans) - min(span.start for span in self.spans)
        return sum(span.end - span.start for span in self.spans) / (length * self.lanes) if length else 1.0


def nodes_of(evidence: Evidence) -> list[Node]:
    """Return every node with its spans; a span without a node or an end is left out."""
    spans = list(spans_of(evidence))
    nodes: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        nodes[span.node].append(span)
    return [_laid(name, nodes[name]) for name in sorted(nodes)]


def spans_of(evidence: Evidence) -> Iterable[Span]:
    rows = {row.run_id: row for row in evidence.rows}
    attempts = [(rows[run_id], one) for run_id, listed in evidence.attempts.items() for one in listed]
    known = [(row, one) for row, one in attempts if one.node and one.finished_at]
    if known:
        zero = min(one.started_at for _, one in known)
        for row, one in known:
            yield _span(row, one, zero)


def _span(row: RunRow, attempt: AttemptRow, zero: datetime) -> Span:
    assert attempt.node and attempt.finished_at
    start = (attempt.started_at - zero).total_seconds()
    end = max(start, (attempt.finished_at - zero).total_seconds())
    last = attempt.attempt == row.attempts
    return Span(
        attempt.node, row.run_id, row.label, row.task, attempt.attempt, attempt.phase, start, end,
        end + (row.validate_seconds if last else 0.0), row.queue_seconds if attempt.attempt == 1 else 0.0, row.gpus,
        attempt.wait_seconds,
    )  # fmt: skip


def _laid(name: str, spans: Sequence[Span]) -> Node:
    """Put each span in the first lane that is free; validation runs elsewhere and takes none."""
    from dataclasses import replace

    laid, ends, free = [], [], []
    lanes = 0
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        while ends and ends[0][0] <= span.start:
            heapq.heappush(free, heapq.heappop(ends)[1])
        lane = heapq.heappop(free) if free else lanes
        lanes = max(lanes, lane + 1)
        heapq.heappush(ends, (span.end, lane))
        laid.append(replace(span, lane=lane))
    return Node(name, tuple(laid), lanes)
