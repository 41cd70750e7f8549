"""Which run is next: whole seeds first, the longest first within, by durations that finished runs teach; pure."""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, TypeVar

from cluster.shape import Shape
from mldevbench.records import Run

ORDERS = ("seeds", "makespan")
MARGIN = 2.0  # a run may well take longer than expected; found by benchmarks/scheduling.py


class Waiting(Protocol):
    """Something that waits to be run."""

    @property
    def run(self) -> Run: ...


Item = TypeVar("Item", bound=Waiting)


@dataclass
class Durations:
    """What is known of how long runs take, in seconds."""

    prior: dict[str, float]  # task -> what its author expects
    earlier: dict[tuple[str, str], float] = field(default_factory=dict)  # label, task -> mean in other studies
    seen: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    _ratio: tuple[float, float] = (0.0, 0.0)  # seconds that runs took, and that their authors expected

    def learn(self, label: str, task: str, seconds: float) -> None:
        for key in ((label, task), ("", task)):
            total, count = self.seen.get(key, (0.0, 0))
            self.seen[key] = (total + seconds, count + 1)
        took, expected = self._ratio
        self._ratio = (took + seconds, expected + self.prior.get(task, 60.0))

    def expect(self, run: Run) -> float:
        return self.expect_of(run.spec.label, run.task)

    def expect_of(self, label: str, task: str) -> float:
        """Return the mean of this agent's runs of the task, here, else before, else of anybody's, else a guess."""
        if (label, task) in self.seen:
            total, count = self.seen[label, task]
            return total / count
        if (label, task) in self.earlier:
            return self.earlier[label, task]
        if ("", task) in self.seen:
            total, count = self.seen["", task]
            return total / count
        return self.prior.get(task, 60.0) * self._scale()

    def _scale(self) -> float:
        """Return by how much the authors' guesses were off so far."""
        took, expected = self._ratio
        return took / expected if took and expected else 1.0


class Kind(NamedTuple):
    """Runs that are expected to take equally long in equal places."""

    label: str
    task: str
    shape: Shape


class Queue(Generic[Item]):
    """What waits; to find the next costs the same however many there are."""

    def __init__(self, durations: Durations, shape_of: Callable[[Run], Shape], order: str = "seeds") -> None:
        self.durations = durations
        self.shape_of = shape_of
        self.order = order
        self.slots = 1
        self.working: Counter[str] = Counter()  # how many runs of each label are on their way
        self._heaps: dict[Kind, list[tuple[int, int, int, Item]]] = {}
        self._numbers = itertools.count()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, item: Item, tried: int = 0) -> None:
        """Let a run wait; of one seed, what was never tried comes before what failed."""
        run = item.run
        kind = Kind(run.spec.label, run.task, self.shape_of(run))
        seed = run.seed if self.order == "seeds" else min(run.seed, 1)  # the first seed teaches how long tasks take
        heapq.heappush(self._heaps.setdefault(kind, []), (seed, tried, next(self._numbers), item))
        self._length += 1

    def shapes(self) -> set[Shape]:
        return {kind.shape for kind in self._heaps}

    def pop(self, blocked: Collection[Shape] = ()) -> Item | None:
        """Take out the next run whose shape isn't blocked."""
        open_kinds = [kind for kind in self._heaps if kind.shape not in blocked]
        if not open_kinds:
            return None
        kind = self._best(open_kinds)
        item = heapq.heappop(self._heaps[kind])[3]
        if not self._heaps[kind]:
            del self._heaps[kind]
        self._length -= 1
        return item

    def _best(self, kinds: list[Kind]) -> Kind:
        expected = {kind: self.durations.expect_of(kind.label, kind.task) for kind in self._heaps}
        left = sum(expected[kind] * len(heap) for kind, heap in self._heaps.items())
        longest = max(kinds, key=lambda kind: expected[kind])
        # What takes as long as all the rest together would end last: it can't wait for its seed.
        if MARGIN * expected[longest] * self.slots >= left:
            return longest
        need = self._need(expected)

        def rank(kind: Kind) -> tuple[int, int, float, float]:
            seed, tried, _, _ = self._heaps[kind][0]
            return (seed, tried, -need[kind.label], -expected[kind])

        return min(kinds, key=rank)

    def _need(self, expected: dict[Kind, float]) -> dict[str, float]:
        """Return each agent's work ahead for each of its runs under way: the most needy goes first, so they mix."""
        work: Counter[str] = Counter()
        for kind, heap in self._heaps.items():
            work[kind.label] += expected[kind] * len(heap)  # type: ignore[assignment]
        if len(work) == 1:
            return dict.fromkeys(work, 0.0)
        return {label: seconds / (self.working[label] + 1) for label, seconds in work.items()}

    def seconds_ahead(self) -> tuple[float, float]:
        """Return the expected seconds of all that waits together, and of the longest."""
        expected = [(self.durations.expect_of(kind.label, kind.task), len(heap)) for kind, heap in self._heaps.items()]
        return sum(one * count for one, count in expected), max((one for one, _ in expected), default=0.0)

    def drain(self) -> list[Item]:
        """Take everything out, in no order."""
        items = [entry[3] for heap in self._heaps.values() for entry in heap]
        self._heaps, self._length = {}, 0
        return items


def in_order(runs: Iterable[Run], durations: Durations, order: str = "seeds") -> list[Run]:
    """Sort what is owed as the queue would give it out on one slot."""
    queue: Queue[_Alone] = Queue(durations, lambda run: Shape(), order)
    queue.slots = 0
    for run in runs:
        queue.add(_Alone(run))
    return [item.run for item in iter(queue.pop, None) if item]


@dataclass(frozen=True)
class _Alone:
    run: Run


def seconds_left(ahead: tuple[float, float], running: Sequence[float], slots: int) -> float:
    """Estimate when the last run ends: the work that is left over the slots, but at least the longest."""
    under_way = [max(left, 0.0) for left in running]
    return max((ahead[0] + sum(under_way)) / max(slots, 1), ahead[1], max(under_way, default=0.0))
