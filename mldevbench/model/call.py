"""One call with its tries: who may send it when, what a failure means, and when to give up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from mldevbench.errors import Fault
from mldevbench.model.budget import BudgetExhausted, BudgetMeter, RequestRefused, Reservation
from mldevbench.model.failure import DOUBTFUL, WORTH_RETRYING, Failure, Kind, backoff, failure_of, final
from mldevbench.model.limiter import Outcome
from mldevbench.model.pacer import Pacer
from mldevbench.model.spec import ModelSpec
from mldevbench.model.upstream import Answer, Request, Upstream
from mldevbench.records import Cause, StopReason

PROBE = Request([{"role": "user", "content": "Say ok."}], sampling={"max_tokens": 16})
PROBE_SECONDS = 15.0


@dataclass(frozen=True)
class Line:
    """What all calls of one attempt share."""

    spec: ModelSpec
    budget: BudgetMeter
    pacer: Pacer
    upstream: Upstream
    clock: Callable[[], float]
    chance: random.Random
    scrub: Callable[[str], str]


class Call:
    """One call with its tries; a failed try costs no tokens and no working time."""

    def __init__(self, line: Line, request: Request, reservation: Reservation) -> None:
        self.request = request
        self.reservation = reservation
        self.tries = 0
        self.started = self.ended = 0.0
        self.waited = 0.0
        self.in_flight = False
        self._line = line
        self._failing_since: float | None = None
        self._blamed = False

    async def answered(self) -> Answer:
        """Try until there is an answer, the failure is final, or patience is at its end."""
        line = self._line
        while True:
            outcome = await self._try()
            if isinstance(outcome, Answer):
                return outcome
            if outcome.kind not in WORTH_RETRYING:
                await self._give_up(outcome)
            if self._failing_since is None:
                self._failing_since = self.started
            wait = backoff(outcome, self.tries, line.chance.random())
            failing = line.clock() + wait - self._failing_since
            if failing > line.spec.patience_seconds or wait >= line.budget.remaining().wall_seconds:
                await self._demand_evidence(outcome)
                wait = 0.0
            await self._wait(asyncio.sleep(wait))

    async def _give_up(self, failure: Failure) -> NoReturn:
        """Raise what a failure means that no retry can mend; one request alone can't stop a study."""
        line = self._line
        if failure.kind in DOUBTFUL and not line.spec.played and await self._wait(self._provider_works()):
            raise RequestRefused(StopReason.REQUEST, f"only this request is refused: {failure.detail}")
        raise final(failure, line.spec.name)

    async def _demand_evidence(self, failure: Failure) -> None:
        """Raise a fault unless the provider answers others: then the request has one last try, and then the blame.

        Otherwise an agent whose own requests break a server could break itself a new chance.
        """
        line = self._line
        if self._blamed:
            raise RequestRefused(StopReason.REQUEST, f"only this request fails: {failure.detail}")
        if line.spec.played or failure.kind is Kind.RATE or not await self._wait(self._provider_works()):
            raise final(failure, line.spec.name)
        if line.budget.remaining().wall_seconds <= 0:
            raise BudgetExhausted(StopReason.WALL_MINUTES)
        self._blamed = True

    async def _provider_works(self) -> bool:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._line.upstream.send(PROBE, PROBE_SECONDS)
        except Exception:
            return False
        return True

    async def _try(self) -> Answer | Failure:
        line = self._line
        permit = await self._wait(self._permit())
        self.tries += 1
        result, retry_after = Outcome.FAILED, None
        self.started = line.clock()
        self.in_flight = True
        seconds = self._seconds()
        try:
            async with asyncio.timeout(seconds):
                answer = await line.upstream.send(self.request, seconds)
            self.ended, self.in_flight = line.clock(), False
            result = Outcome.OK
            return answer
        except Exception as error:
            failure = failure_of(error, line.scrub)
            self._demand_time(failure)
            self.in_flight = False
            line.budget.failed(self.started, line.clock())
            self.waited += line.clock() - self.started
            if failure.kind is Kind.RATE:
                result, retry_after = Outcome.RATE, failure.retry_after
            return failure
        finally:
            await line.pacer.release(permit, result, retry_after)

    async def _permit(self) -> Any:
        try:
            async with asyncio.timeout(max(0.0, self._line.budget.remaining().wall_seconds)):
                return await self._line.pacer.acquire(self.reservation.tokens)
        except TimeoutError:
            raise Fault(Cause.PROVIDER_ERROR, "no permit to call before the time was up") from None

    async def _wait(self, coroutine: Any) -> Any:
        started = self._line.clock()
        try:
            with self._line.budget.waiting():
                return await coroutine
        finally:
            self.waited += self._line.clock() - started

    def _seconds(self) -> float:
        left = self._line.budget.remaining()
        working = left.wall_seconds if left.seconds is None else left.seconds
        return max(0.01, min(self._line.spec.timeout_seconds, left.wall_seconds, working))

    def _demand_time(self, failure: Failure) -> None:
        """Tell a slow provider from an attempt whose time is up."""
        if failure.kind is not Kind.TIMEOUT or self._failing_since is not None:
            return
        left = self._line.budget.remaining()
        if left.wall_seconds <= 0.01:
            _stop(StopReason.WALL_MINUTES)
        if left.seconds is not None and left.seconds <= 0.01:
            _stop(StopReason.MINUTES)


def _stop(reason: StopReason) -> NoReturn:
    raise BudgetExhausted(reason, "while the model was answering")
