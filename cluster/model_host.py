"""One process for each node and study that calls providers for all runs there: litellm is slow and large to import."""

from __future__ import annotations

import asyncio
import functools
import time
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from cluster.raylet import end_with_raylet
from mldevbench.digest import of_tree, of_value
from mldevbench.errors import Fault
from mldevbench.model.failure import Failed, Failure, Kind, failure_of
from mldevbench.model.secrets import Scrubber
from mldevbench.model.spec import ModelSpec
from mldevbench.model.upstream import Answer, Provider, Request

NAMESPACE = "mldevbench"
IDLE_SECONDS = 300.0
START_SECONDS = 300.0
GRACE_SECONDS = 30.0  # beyond the call's own time-out, before the process itself is held for dead
AT_ONCE = 10_000


class HostWorker:
    """Sends calls; knows a key only for as long as a call takes, and ends itself when nobody calls."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._idle_seconds = idle_seconds
        self._calls = 0
        self._used = time.monotonic()
        self._watch: asyncio.Task[None] | None = None
        end_with_raylet()

    async def ready(self) -> None:
        if self._watch is None:
            self._watch = asyncio.create_task(self._end_when_idle())
        await Provider(ModelSpec("")).ready()

    async def send(
        self, spec: ModelSpec, request: Request, seconds: float, secrets: tuple[str, ...]
    ) -> Answer | Failure:
        """Return the answer, or what went wrong: the provider's own exceptions would bring litellm along."""
        self._calls += 1
        try:
            return await Provider(spec).send(request, seconds)
        except Exception as error:
            return failure_of(error, Scrubber(secrets))
        finally:
            self._calls -= 1
            self._used = time.monotonic()

    async def _end_when_idle(self) -> None:
        while self._calls or time.monotonic() - self._used < self._idle_seconds:
            await asyncio.sleep(min(5.0, self._idle_seconds / 4))
        ray.kill(ray.get_runtime_context().current_actor)


@functools.cache
def source_digest() -> str:
    """Return what tells this code from another version of it: a process that answers must run the same."""
    import mldevbench

    return of_tree(Path(mldevbench.__file__).parent / "model")


def host_actor(study: str, idle_seconds: float = IDLE_SECONDS) -> Any:
    """Return this node's process, made if there is none; it outlives the run actor and the driver that asked first."""
    context = ray.get_runtime_context()
    remote: Any = ray.remote
    options = {
        "name": f"models-{of_value([study, source_digest()], 16)}-{context.get_node_id()}",
        "namespace": NAMESPACE,
        "get_if_exists": True,
        "lifetime": "detached",
        "num_cpus": 0,
        "max_concurrency": AT_ONCE,
        "max_restarts": 0,
        "scheduling_strategy": NodeAffinitySchedulingStrategy(context.get_node_id(), soft=False),
    }
    return remote(HostWorker).options(**options).remote(idle_seconds)


class HostedProvider:
    """The way out for one model, through this node's process."""

    def __init__(self, spec: ModelSpec, secrets: tuple[str, ...] = (), study: str = "") -> None:
        self._spec = spec
        self._study = study
        self._secrets = secrets
        self._actor: Any | None = None

    async def ready(self) -> None:
        if self._actor is None:
            actor = await asyncio.to_thread(host_actor, self._study)
            try:
                await self._asked(actor.ready.remote(), START_SECONDS)
            except Failed as failed:  # the agent has asked nothing yet: this can't be its doing
                raise Fault("provider_error", str(failed)) from None
            self._actor = actor

    async def send(self, request: Request, seconds: float) -> Answer:
        await self.ready()
        actor: Any = self._actor
        answer = await self._asked(
            actor.send.remote(self._spec, request, seconds, self._secrets), seconds + GRACE_SECONDS
        )
        if isinstance(answer, Failure):
            raise Failed(answer)
        return answer

    def close(self) -> None:
        self._actor = None

    async def _asked(self, reference: Any, seconds: float) -> Any:
        try:
            return await asyncio.wait_for(asyncio.wrap_future(reference.future()), seconds)
        except (RayError, TimeoutError) as error:
            self._actor = None
            raise Failed(Failure(Kind.SERVER, f"the node's model process ended: {type(error).__name__}")) from None
