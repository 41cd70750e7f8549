"""Who lets a call go out: the limiter as callers see it, for one process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Protocol

from mldevbench.model.limiter import Limiter, Outcome, Pace, Permit


class Pacer(Protocol):
    """Hands out permits to call; a permit is held while the call is under way."""

    async def acquire(self, tokens: int) -> Permit: ...

    async def release(self, permit: Permit, outcome: Outcome, retry_after: float | None = None) -> None: ...


class LocalPacer:
    """A limiter with a queue of waiting coroutines, of any event loop in this process."""

    def __init__(self, pace: Pace | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.limiter = Limiter(pace)
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[Permit]]] = {}

    async def acquire(self, tokens: int) -> Permit:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Permit] = loop.create_future()
        with self._lock:
            ticket = self.limiter.ask(tokens)
            self._waiting[ticket] = (loop, future)
        try:
            while not future.done():
                self._grant()
                await asyncio.wait([future], timeout=self._pause())
        except asyncio.CancelledError:
            await self._give_up(ticket, future)
            raise
        return future.result()

    async def release(self, permit: Permit, outcome: Outcome, retry_after: float | None = None) -> None:
        with self._lock:
            self.limiter.release(permit.number, outcome, self._clock(), retry_after)
        self._grant()

    def renew(self, numbers: list[int]) -> None:
        with self._lock:
            self.limiter.renew(numbers, self._clock())

    def _grant(self) -> None:
        with self._lock:
            granted = [(self._waiting.pop(permit.number), permit) for permit in self.limiter.grant(self._clock())]
        for (loop, future), permit in granted:
            loop.call_soon_threadsafe(_hand_over, future, permit)

    def _pause(self) -> float:
        with self._lock:
            at = self.limiter.wake_at(self._clock())
        # A release in another thread wakes the waiter through its future; this is for time alone.
        return min(5.0, max(0.005, at - self._clock())) if at is not None else 5.0

    async def _give_up(self, ticket: int, future: asyncio.Future[Permit]) -> None:
        with self._lock:
            waiting = self._waiting.pop(ticket, None)
            self.limiter.leave(ticket)
        if waiting is None:
            # The permit was on its way: it must not be lost.
            await self.release(Permit(ticket, 0), Outcome.FAILED)


def _hand_over(future: asyncio.Future[Permit], permit: Permit) -> None:
    if not future.done():
        future.set_result(permit)
