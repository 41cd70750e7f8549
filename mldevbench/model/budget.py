"""What an attempt has spent and may still spend; each call reserves its worst case before it is sent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from mldevbench.model.price import Price
from mldevbench.model.working import WorkingTime
from mldevbench.records import Budget, StopReason, Usage

LEAST_ANSWER = 16  # tokens; a call that can't answer even this much is not worth its prompt
UNKNOWN_CEILING = 8192  # what an answer may have at most where neither caller nor list says


class AgentStopped(Exception):
    """The agent ends here for a reason of its own; what is there is validated."""

    def __init__(self, stop_reason: StopReason, detail: str = "") -> None:
        super().__init__(f"{stop_reason}: {detail}" if detail else str(stop_reason))
        self.stop_reason = stop_reason
        self.detail = detail

    def __reduce__(self) -> tuple[type[AgentStopped], tuple[StopReason, str]]:
        return type(self), (self.stop_reason, self.detail)


class BudgetExhausted(AgentStopped):
    """The budget doesn't hold another call, or the time is up."""


class RequestRefused(AgentStopped):
    """The provider refused what the agent itself asked for."""


@dataclass(frozen=True)
class Ask:
    """What a call wants: the bound of its prompt, and the longest answer."""

    prompt_tokens: int
    max_tokens: int | None = None  # as the agent asks
    ceiling: int | None = None  # as the model is able


@dataclass(frozen=True)
class Reservation:
    number: int
    prompt_tokens: int
    max_tokens: int | None  # None: nothing in the budget depends on it
    tokens: int
    usd: float


@dataclass(frozen=True)
class Remaining:
    """What is left, settled and reserved calls both taken off; None is no bound."""

    steps: int | None
    tokens: int | None
    usd: float | None
    seconds: float | None
    wall_seconds: float


class BudgetMeter:
    """Counts one attempt; safe to use from several threads."""

    def __init__(self, budget: Budget, price: Price | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self.price = price
        self.clock = clock
        self._lock = threading.RLock()
        self._time = WorkingTime(clock)
        self._usage = Usage()
        self._open: dict[int, Reservation] = {}
        self._count = 0

    @property
    def usage(self) -> Usage:
        with self._lock:
            return replace(self._usage, wait_seconds=self._time.waited())

    @property
    def working_seconds(self) -> float:
        with self._lock:
            return self._time.worked()

    @property
    def wall_seconds(self) -> float:
        return self._time.wall()

    def remaining(self) -> Remaining:
        with self._lock:
            return self._remaining(self._open.values())

    def check(self) -> None:
        """Raise if the time is up; commands and calls alike ask this first."""
        left = self.remaining()
        if left.wall_seconds <= 0:
            raise BudgetExhausted(StopReason.WALL_MINUTES)
        if left.seconds is not None and left.seconds <= 0:
            raise BudgetExhausted(StopReason.MINUTES)

    def reserve(self, ask: Ask) -> Reservation | None:
        """Set a call's worst case aside; None if that must wait for the calls that are under way."""
        with self._lock:
            self.check()
            self._fit(ask, self._remaining(()))  # raises if it can't fit even when all others are free
            try:
                max_tokens = self._fit(ask, self._remaining(self._open.values()))
            except BudgetExhausted:
                return None
            return self._keep(ask, max_tokens)

    def settle(self, reservation: Reservation, spent: Usage, started: float, ended: float) -> int:
        """Count a call that was answered; return its step's number."""
        with self._lock:
            self._open.pop(reservation.number, None)
            self._time.add_call(started, ended)
            before = self._usage
            unknown = before.cost_usd is None or spent.cost_usd is None
            self._usage = Usage(
                steps=before.steps + 1,
                prompt_tokens=before.prompt_tokens + spent.prompt_tokens,
                completion_tokens=before.completion_tokens + spent.completion_tokens,
                cached_tokens=before.cached_tokens + spent.cached_tokens,
                reasoning_tokens=before.reasoning_tokens + spent.reasoning_tokens,
                cost_usd=None if unknown else (before.cost_usd or 0.0) + (spent.cost_usd or 0.0),
                model_seconds=before.model_seconds + (ended - started),
                model_served=spent.model_served or before.model_served,
            )
            return self._usage.steps

    def release(self, reservation: Reservation) -> None:
        """Give back what a call that was never answered had set aside."""
        with self._lock:
            self._open.pop(reservation.number, None)

    def failed(self, started: float, ended: float) -> None:
        """Take a failed call's time off the working time."""
        with self._lock:
            self._time.add_wait(started, ended)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Take the time inside off the working time."""
        with self._lock:
            token = self._time.begin_wait()
        try:
            yield
        finally:
            with self._lock:
                self._time.end_wait(token)

    def _remaining(self, reserved: Iterable[Reservation]) -> Remaining:
        held = list(reserved)
        budget, usage = self.budget, self._usage
        tokens = None if budget.tokens is None else budget.tokens - usage.total_tokens
        usd = None if budget.usd is None else budget.usd - (usage.cost_usd or 0.0)
        return Remaining(
            steps=None if budget.steps is None else budget.steps - usage.steps - len(held),
            tokens=None if tokens is None else tokens - sum(one.tokens for one in held),
            usd=None if usd is None else usd - sum(one.usd for one in held),
            seconds=None if budget.minutes is None else budget.minutes * 60 - self._time.worked(),
            wall_seconds=budget.wall_seconds - self._time.wall(),
        )

    def _fit(self, ask: Ask, left: Remaining) -> int | None:
        """Return the longest answer that fits, or raise with what doesn't."""
        if left.steps is not None and left.steps < 1:
            raise BudgetExhausted(StopReason.STEPS)
        if left.tokens is None and left.usd is None:
            return ask.max_tokens
        wanted = min(ask.max_tokens or UNKNOWN_CEILING, ask.ceiling or ask.max_tokens or UNKNOWN_CEILING)
        least = min(wanted, LEAST_ANSWER)
        by_tokens = wanted if left.tokens is None else left.tokens - ask.prompt_tokens
        by_usd = wanted if left.usd is None else self._affordable(ask.prompt_tokens, left.usd)
        if by_tokens < least:
            raise BudgetExhausted(StopReason.TOKENS)
        if by_usd < least:
            raise BudgetExhausted(StopReason.USD)
        return min(wanted, by_tokens, by_usd)

    def _affordable(self, prompt_tokens: int, usd: float) -> int:
        if self.price is None:
            raise ValueError("a budget in dollars needs a price")
        return self.price.affords(prompt_tokens, usd)

    def _keep(self, ask: Ask, max_tokens: int | None) -> Reservation:
        self._count += 1
        answer = max_tokens or ask.ceiling or UNKNOWN_CEILING
        reservation = Reservation(
            number=self._count,
            prompt_tokens=ask.prompt_tokens,
            max_tokens=max_tokens,
            tokens=ask.prompt_tokens + answer,
            usd=self.price.worst(ask.prompt_tokens, answer) if self.price else 0.0,
        )
        self._open[reservation.number] = reservation
        return reservation
