"""The limiter of one model behind one key: who may call now, and how many at once. Pure; time comes in."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from enum import StrEnum

WINDOW = 60.0  # seconds that rpm and tpm speak of
START = 4  # calls at once to begin with
MOST = 512
HOLD = 30.0  # seconds before a limit that was met is tried again; doubles each time
LONGEST_HOLD = 900.0
LEASE = 60.0  # seconds a permit lives without a word from its holder


class Outcome(StrEnum):
    OK = "ok"
    RATE = "rate"  # refused for too many calls
    FAILED = "failed"  # says nothing about the rate


@dataclass(frozen=True)
class Pace:
    """Fixed limits that people set; None leaves it to what is learned."""

    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None


@dataclass(frozen=True)
class Permit:
    number: int
    tokens: int


@dataclass
class _Held:
    permit: Permit
    until: float
    epoch: int


class Limiter:
    """Grows while calls come back clean, shrinks by one for each refusal, honours Retry-After.

    Refusals of calls that were sent before the last shrinking round ended lower the limit to half at most:
    a burst of refusals is one message.
    """

    def __init__(self, pace: Pace | None = None, start: int = START) -> None:
        self.pace = pace or Pace()
        self.limit = self.pace.concurrency or start
        self.refusals = 0
        self._ceiling: int | None = None  # the last limit that was refused
        self._retry_ceiling_at = 0.0
        self._hold = HOLD
        self._floor = 1
        self._epoch = 0
        self._clean = 0
        self._held: dict[int, _Held] = {}
        self._queue: OrderedDict[int, int] = OrderedDict()
        self._granted: deque[tuple[float, int]] = deque()
        self._granted_tokens = 0  # the sum of these, since a long queue asks for it at every grant
        self._resume_at = 0.0
        self._count = 0

    def ask(self, tokens: int) -> int:
        """Stand in the queue; return the ticket."""
        self._count += 1
        self._queue[self._count] = tokens
        return self._count

    def leave(self, ticket: int) -> None:
        self._queue.pop(ticket, None)

    def grant(self, now: float) -> list[Permit]:
        """Return the permits that may be had now, first come first; a permit's number is its ticket."""
        self._expire(now)
        granted: list[Permit] = []
        while self._queue and self._free(now, next(iter(self._queue.values()))):
            ticket, tokens = self._queue.popitem(last=False)
            permit = Permit(ticket, tokens)
            self._held[ticket] = _Held(permit, now + LEASE, self._epoch)
            self._granted.append((now, tokens))
            self._granted_tokens += tokens
            granted.append(permit)
        return granted

    def renew(self, numbers: list[int], now: float) -> None:
        for number in numbers:
            if number in self._held:
                self._held[number].until = now + LEASE

    def release(self, number: int, outcome: Outcome, now: float, retry_after: float | None = None) -> None:
        """Give a permit back and learn from how the call went."""
        held = self._held.pop(number, None)
        if outcome is Outcome.RATE:
            self._refused(held, now, retry_after)
        elif outcome is Outcome.OK and held is not None:
            self._answered(now)

    def wake_at(self, now: float) -> float | None:
        """Return when to look again if nothing happens before; None if nobody waits."""
        if not self._queue:
            return None
        times = [held.until for held in self._held.values()]
        times += [self._resume_at] if self._resume_at > now else []
        times += [self._granted[0][0] + WINDOW] if self._granted and self._rated else []
        return max(now, min(times)) if times else now

    @property
    def in_flight(self) -> int:
        return len(self._held)

    @property
    def idle(self) -> bool:
        return not self._held and not self._queue

    @property
    def _rated(self) -> bool:
        return self.pace.rpm is not None or self.pace.tpm is not None

    def _free(self, now: float, tokens: int) -> bool:
        limit = min(self.limit, self.pace.concurrency or MOST)
        if now < self._resume_at or len(self._held) >= limit:
            return False
        while self._granted and self._granted[0][0] <= now - WINDOW:
            self._granted_tokens -= self._granted.popleft()[1]
        if self.pace.rpm is not None and len(self._granted) >= self.pace.rpm:
            return False
        # A call larger than the whole allowance goes alone: it could never be sent otherwise.
        return self.pace.tpm is None or not self._granted or self._granted_tokens + tokens <= self.pace.tpm

    def _expire(self, now: float) -> None:
        for number in [number for number, held in self._held.items() if held.until <= now]:
            del self._held[number]

    def _answered(self, now: float) -> None:
        self._clean += 1
        known = self._ceiling is not None
        if known and now >= self._retry_ceiling_at:
            self._ceiling = None
            self._clean = 0
        if self._ceiling is not None and self.limit + 1 >= self._ceiling:
            return
        # Doubles each round until the first refusal, then one more a round; never ahead of the demand.
        needed = self.limit if self.refusals else 1
        if self._clean >= needed and len(self._held) + 1 + len(self._queue) > self.limit:
            self.limit = min(MOST, self.limit + 1)
            self._clean = 0

    def _refused(self, held: _Held | None, now: float, retry_after: float | None) -> None:
        self.refusals += 1
        self._clean = 0
        if retry_after:
            self._resume_at = max(self._resume_at, now + retry_after)
        if held is None or held.epoch == self._epoch:
            self._epoch += 1
            self._floor = max(1, self.limit // 2)
            again = self._ceiling is not None or self.refusals > 1
            self._hold = min(LONGEST_HOLD, self._hold * 2) if again else HOLD
        self.limit = max(self._floor, self.limit - 1)
        self._ceiling = self.limit + 1
        self._retry_ceiling_at = now + self._hold
