"""Working time: the wall clock less what the attempt had to wait for through no doing of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Span = tuple[float, float]


def union(spans: Iterable[Span]) -> list[Span]:
    """Merge spans that touch or overlap."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def length(spans: Iterable[Span]) -> float:
    return sum(end - start for start, end in spans)


class WorkingTime:
    """Keeps the spans of waiting and of successful calls; a moment with both is work.

    The caller holds a lock around every method.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.started = clock()
        self._waits: list[Span] = []
        self._calls: list[Span] = []
        self._open: dict[int, float] = {}
        self._next = 0

    def begin_wait(self) -> int:
        self._next += 1
        self._open[self._next] = self._clock()
        return self._next

    def end_wait(self, token: int) -> None:
        self._waits = union([*self._waits, (self._open.pop(token), self._clock())])

    def add_wait(self, start: float, end: float) -> None:
        self._waits = union([*self._waits, (start, end)])

    def add_call(self, start: float, end: float) -> None:
        self._calls = union([*self._calls, (start, end)])

    def waited(self) -> float:
        now = self._clock()
        waits = union([*self._waits, *((start, now) for start in self._open.values())])
        # |waits without calls| = |waits and calls together| - |calls|
        return length(union([*waits, *self._calls])) - length(self._calls)

    def wall(self) -> float:
        return self._clock() - self.started

    def worked(self) -> float:
        return max(0.0, self.wall() - self.waited())
