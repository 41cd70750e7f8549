"""The run actor: holds its reservation while an agent works; never sees what judges."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path

import ray

from cluster.berth import Berth, Wear, children
from cluster.gpus import held_back, held_gpus, held_names, memory_mb
from cluster.lodging import lodging
from cluster.site import Site
from mldevbench.agent import load_agent
from mldevbench.bundle import Bundle, unpack
from mldevbench.cache import cache_folder
from mldevbench.execute import Attempt, Means, Order
from mldevbench.model.pacer import LocalPacer, Pacer
from mldevbench.model.upstream import Upstream
from mldevbench.records import Submitted, Usage
from mldevbench.sampling import Sampled, attempt_of
from mldevbench.store.place import Place
from mldevbench.task import load_task

SILENCE_SECONDS = 60.0


class RunWorker:
    """Works on one attempt at a time; between attempts it stays warm."""

    def __init__(self, site: Site) -> None:
        site.settle()
        self.site = site
        self._attempt: Attempt | Sampled | None = None
        self._lock = threading.Lock()
        self._heard = time.monotonic()
        self._wear = Wear()
        self._gpu_mb = 0.0  # in use on its GPUs before its first run

    def ready(self) -> Berth:
        """Answer once the actor has its place and is fit for work."""
        left_behind = children()
        if self._wear.pieces:
            left_behind += held_back(held_names(), self._gpu_mb)
        else:
            self._gpu_mb = memory_mb(held_names())
        return self.site.berth(self._wear, left_behind)

    def work(
        self, order: Order, place: Place, public: Bundle, agent: Bundle, solution: Bundle | None
    ) -> Submitted:  # the bundles come apart from the order: Ray resolves only references at the top
        with self._wear, lodging(self.site.scratch_folder()) as scratch:
            done = self._work(order, scratch, place, public, agent, solution)
            return replace(done, gpu_shared=order.run.gpus % 1 != 0)

    def _work(
        self, order: Order, scratch: Path, place: Place, public: Bundle, agent: Bundle, solution: Bundle | None
    ) -> Submitted:
        cache = cache_folder()
        task = load_task(unpack(public, cache), whole=False)
        self.site.supply(task, order.run.profile)
        solver = load_agent(unpack(agent, cache))
        means = Means(
            task=task,
            agent=solver,
            agent_venv=self.site.equip(solver),
            venv=self.site.venv(),
            scratch=scratch,
            place=place,
            pacer=_pacer(order),
            upstream=_upstream(order),
            solution=unpack(solution, cache) / "solution" if solution else None,
            node=f"{os.uname().nodename}-{ray.get_runtime_context().get_node_id()[:6]}",
            gpus=held_gpus(),
            nodes=_nodes(order),
        )
        attempt = attempt_of(order, means)
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

    def _hold(self, attempt: Attempt | Sampled, over: threading.Event) -> None:
        """End an agent whose driver fell silent: nobody would take its result."""
        while not over.wait(1.0):
            if time.monotonic() - self._heard > SILENCE_SECONDS:
                attempt.stop()
                return

    @ray.method(concurrency_group="control")
    def hear(self) -> float:
        """Take the driver's word that it is alive; return how long the agent has waited for its model."""
        self._heard = time.monotonic()
        with self._lock:
            return self._attempt.meter.usage.wait_seconds if self._attempt else 0.0

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


def _nodes(order: Order) -> frozenset[str]:
    """Return the cluster's addresses, if anything outside is open to the agent."""
    if order.network == "none":
        return frozenset()
    return frozenset(str(node["NodeManagerAddress"]) for node in ray.nodes())


def _pacer(order: Order) -> Pacer:
    if order.model is None or order.model.played:
        return LocalPacer()
    from cluster.limiter import connect

    return connect(order.model)


def _upstream(order: Order) -> Upstream | None:
    if order.model is None or order.model.played:
        return None
    from cluster.model_host import HostedProvider

    return HostedProvider(order.model, order.secrets, order.study)
