"""The limiter as an actor: one for all runs of all studies that share an API base and a key, and for no others."""

from __future__ import annotations

import asyncio
import functools
import time
from contextlib import suppress
from typing import Any

import ray
from ray.exceptions import RayError

from cluster.raylet import end_with_raylet
from mldevbench.model.limiter import LEASE, Outcome, Pace, Permit
from mldevbench.model.pacer import LocalPacer
from mldevbench.model.spec import ModelSpec

NAMESPACE = "mldevbench"
IDLE_SECONDS = 300.0
LOOK_SECONDS = 20.0  # between looks whether the actor still lives, while a call waits for its permit
ANSWER_SECONDS = 15.0
AT_ONCE = 10_000  # calls that wait in the actor
HEAD = "node:__internal_head__"


class LimiterWorker:
    """One lane for each model; ends itself when nobody has called for a while."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._lanes: dict[str, LocalPacer] = {}
        self._idle_seconds = idle_seconds
        self._used = time.monotonic()
        self._watch: asyncio.Task[None] | None = None
        end_with_raylet()

    async def acquire(self, model: str, pace: Pace, tokens: int) -> Permit:
        return await self._lane(model, pace).acquire(tokens)

    async def release(
        self, model: str, pace: Pace, permit: Permit, outcome: Outcome, retry_after: float | None
    ) -> None:
        await self._lane(model, pace).release(permit, outcome, retry_after)

    async def renew(self, model: str, numbers: list[int]) -> None:
        self._used = time.monotonic()
        if model in self._lanes:
            self._lanes[model].renew(numbers)

    async def ping(self) -> None:
        self._used = time.monotonic()

    def _lane(self, model: str, pace: Pace) -> LocalPacer:
        self._used = time.monotonic()
        if self._watch is None:
            self._watch = asyncio.create_task(self._end_when_idle())
        lane = self._lanes.setdefault(model, LocalPacer(pace))
        lane.limiter.pace = pace
        return lane

    async def _end_when_idle(self) -> None:
        while time.monotonic() - self._used < self._idle_seconds or not self._idle:
            await asyncio.sleep(min(5.0, self._idle_seconds / 4))
        ray.kill(ray.get_runtime_context().current_actor)

    @property
    def _idle(self) -> bool:
        return all(lane.limiter.idle for lane in self._lanes.values())


def limiter_name(spec: ModelSpec) -> str:
    return f"limiter-{spec.account}"


def limiter_actor(spec: ModelSpec, idle_seconds: float = IDLE_SECONDS) -> Any:
    """Return the actor, made if there is none: without CPUs, on the head node, outliving this driver."""
    remote: Any = ray.remote
    options = {
        "name": limiter_name(spec),
        "namespace": NAMESPACE,
        "get_if_exists": True,
        "lifetime": "detached",
        "num_cpus": 0,
        "max_concurrency": AT_ONCE,
        "max_restarts": 0,
        "resources": {HEAD: 0.001},
    }
    return remote(LimiterWorker).options(**options).remote(idle_seconds)


def connect(spec: ModelSpec) -> SharedPacer:
    """Return the way to the limiter of a model; call it where blocking does no harm."""
    return SharedPacer(spec, limiter_actor(spec))


@functools.cache
def alone(account: str) -> LocalPacer:
    """One call at a time in this process, for while the limiter can't be reached."""
    return LocalPacer(Pace(concurrency=1))


class SharedPacer:
    """A Pacer that asks the actor, holds its leases, and goes on carefully without it."""

    def __init__(self, spec: ModelSpec, actor: Any) -> None:
        self._spec = spec
        self._actor: Any | None = actor
        self._held: set[int] = set()
        self._own: set[int] = set()  # permits of the careful way, by identity
        self._renewal: asyncio.Task[None] | None = None
        self._late: set[asyncio.Task[None]] = set()

    async def acquire(self, tokens: int) -> Permit:
        try:
            permit = await self._ask(tokens)
        except (RayError, TimeoutError):
            self._actor = None
            permit = await alone(self._spec.account).acquire(tokens)
            self._own.add(id(permit))
            return permit
        self._held.add(permit.number)
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.create_task(self._renew())
        return permit

    async def release(self, permit: Permit, outcome: Outcome, retry_after: float | None = None) -> None:
        if id(permit) in self._own:
            self._own.discard(id(permit))
            await alone(self._spec.account).release(permit, outcome, retry_after)
            return
        self._held.discard(permit.number)
        if self._actor is not None:
            # Not waited for: an actor that is gone has forgotten the permit too.
            self._actor.release.remote(self._spec.name, self._spec.pace, permit, outcome, retry_after)

    async def _ask(self, tokens: int) -> Permit:
        if self._actor is None:
            self._actor = await asyncio.wait_for(asyncio.to_thread(limiter_actor, self._spec), ANSWER_SECONDS)
        actor: Any = self._actor
        reference = actor.acquire.remote(self._spec.name, self._spec.pace, tokens)
        waiting = asyncio.ensure_future(_value(reference))
        try:
            while not (await asyncio.wait([waiting], timeout=LOOK_SECONDS))[0]:
                await asyncio.wait_for(_value(actor.ping.remote()), ANSWER_SECONDS)
            return waiting.result()
        except BaseException:
            ray.cancel(reference)
            late = asyncio.create_task(self._hand_back(waiting))
            self._late.add(late)  # a loop keeps only weak references
            late.add_done_callback(self._late.discard)
            raise

    async def _hand_back(self, waiting: asyncio.Future[Permit]) -> None:
        """Return a permit that nobody waits for any more but was granted before the actor heard so."""
        with suppress(RayError, TimeoutError, asyncio.CancelledError):
            await self.release(await asyncio.wait_for(waiting, LEASE), Outcome.FAILED)

    async def _renew(self) -> None:
        while self._held:
            await asyncio.sleep(LEASE / 4)
            if self._actor is not None and self._held:
                self._actor.renew.remote(self._spec.name, sorted(self._held))


async def _value(reference: Any) -> Any:
    return await reference
