"""The run actor: holds its reservation while an agent works; never sees what judges."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray

from mldevbench import task_venv
from mldevbench.agent import load_agent
from mldevbench.bundle import Bundle, unpack
from mldevbench.cache import cache_folder
from mldevbench.errors import Fault, UserError
from mldevbench.execute import Attempt, Means, Order
from mldevbench.model.pacer import LocalPacer, Pacer
from mldevbench.model.upstream import Upstream
from mldevbench.records import Submitted, Usage
from mldevbench.store.place import Place
from mldevbench.task import load_task

SILENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Site:
    """Where an actor puts what it makes."""

    scratch: str | None = None

    def scratch_folder(self) -> Path:
        return Path(self.scratch) if self.scratch else cache_folder() / "scratch"


class RunWorker:
    """Works on one attempt at a time; between attempts it stays warm."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._attempt: Attempt | None = None
        self._lock = threading.Lock()
        self._heard = time.monotonic()

    def ready(self) -> str:
        """Answer once the actor has its place; return the node's name."""
        return ray.get_runtime_context().get_node_id()

    def work(
        self, order: Order, place: Place, public: Bundle, agent: Bundle, solution: Bundle | None
    ) -> Submitted:  # the bundles come apart from the order: Ray resolves only references at the top
        cache = cache_folder()
        means = Means(
            task=load_task(unpack(public, cache), whole=False),
            agent=load_agent(unpack(agent, cache)),
            venv=_venv(),
            scratch=self.site.scratch_folder(),
            place=place,
            pacer=_pacer(order),
            upstream=_upstream(order),
            solution=unpack(solution, cache) / "solution" if solution else None,
            node=f"{os.uname().nodename}-{ray.get_runtime_context().get_node_id()[:6]}",
            gpus=_gpus(),
        )
        attempt = Attempt(order, means)
        with self._lock:
            self._attempt, self._heard = attempt, time.monotonic()
        over = threading.Event()
        leash = threading.Thread(target=self._hold, args=(attempt, over), name="leash", daemon=True)
        leash.start()
        try:
            return attempt.execute()
        finally:
            over.set()
            leash.join()
            with self._lock:
                self._attempt = None

    def _hold(self, attempt: Attempt, over: threading.Event) -> None:
        """End an agent whose driver fell silent: nobody would take its result."""
        while not over.wait(1.0):
            if time.monotonic() - self._heard > SILENCE_SECONDS:
                attempt.stop()
                return

    @ray.method(concurrency_group="control")
    def hear(self) -> None:
        """Take the driver's word that it is alive."""
        self._heard = time.monotonic()

    @ray.method(concurrency_group="control")
    def usage(self) -> Usage | None:
        """Return what the running attempt has spent so far."""
        with self._lock:
            return self._attempt.meter.usage if self._attempt else None

    @ray.method(concurrency_group="control")
    def stop(self) -> None:
        """End the running attempt's processes."""
        with self._lock:
            if self._attempt:
                self._attempt.stop()


def _venv() -> Path:
    try:
        return task_venv.path()
    except UserError as error:
        raise Fault("sandbox_error", str(error)) from None


def _gpus() -> tuple[int, ...]:
    """Return the minors of the GPUs that this actor holds."""
    return tuple(int(name) for name in ray.get_gpu_ids() if str(name).isdigit())


def _pacer(order: Order) -> Pacer:
    if order.model is None or order.model.played:
        return LocalPacer()
    from cluster.limiter import connect

    return connect(order.model)


def _upstream(order: Order) -> Upstream | None:
    if order.model is None or order.model.played:
        return None
    from cluster.model_host import HostedProvider

    return HostedProvider(order.model, order.secrets)


def run_actor(cpus: float, gpus: float) -> Any:
    """Return the actor class with its reservation; a retry is the driver's decision, never Ray's."""
    remote: Any = ray.remote  # its types know no concurrency groups
    once = {"max_restarts": 0, "max_task_retries": 0}
    return remote(num_cpus=cpus, num_gpus=gpus, concurrency_groups={"control": 2}, **once)(RunWorker)
