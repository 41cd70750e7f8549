"""The run actor: holds its reservation while an agent works; never sees what judges."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import ray

from cluster.berth import Berth, Versions, Wear, children, complaint_of, worn
from cluster.gpus import held_back, held_gpus, held_names, memory_mb, unseen
from cluster.lodging import lodging, sweep
from mldevbench import agent_venv, task_venv
from mldevbench.agent import Agent, load_agent
from mldevbench.assets import ensure
from mldevbench.bundle import Bundle, unpack
from mldevbench.cache import cache_folder
from mldevbench.errors import Fault, UserError
from mldevbench.execute import Attempt, Means, Order
from mldevbench.model.pacer import LocalPacer, Pacer
from mldevbench.model.upstream import Upstream
from mldevbench.records import Submitted, Usage
from mldevbench.sampling import Sampled, attempt_of
from mldevbench.store.place import Place
from mldevbench.task import Task, load_task

SILENCE_SECONDS = 60.0


@dataclass(frozen=True)
class Site:
    """Where an actor puts what it makes."""

    scratch: str | None = None
    offline: bool = False  # whether assets that a node lacks may not be fetched
    no_install: bool = False  # whether agents that a node lacks may not be installed
    isolation: str = ""  # to be probed before work; none: whatever is asked for later
    versions: Versions | None = None  # what every node must have
    agents: tuple[Bundle, ...] = ()  # those of the study that have packages of their own
    cache: str | None = None  # none: where the node itself keeps it

    def settle(self) -> None:
        """Make this actor's process keep what can be made again where the study says."""
        if self.cache:
            os.environ["MLDEVBENCH_CACHE"] = self.cache

    def scratch_folder(self) -> Path:
        return Path(self.scratch) if self.scratch else cache_folder() / "scratch"

    def berth(self, wear: Wear, left_behind: list[str]) -> Berth:
        """Say where this actor is, what the node lacks, and why the actor should be replaced."""
        context = ray.get_runtime_context()
        sweep(self.scratch_folder())
        complaint = complaint_of(self.isolation, self.scratch_folder(), self.versions)
        if not complaint and self.no_install:
            complaint = self.equip_all()
        if not complaint and self.isolation:
            complaint = self.look_at_gpus()
        return Berth(context.get_node_id(), os.uname().nodename, complaint, worn(wear, left_behind))

    def supply(self, task: Task, profile: str) -> None:
        """See to it that a task's assets are here; fetching them is never the attempt's doing."""
        try:
            ensure(task, profile, offline=self.offline)
        except UserError as error:
            raise Fault("storage_error", str(error)) from None

    def equip_all(self) -> str:
        """See to it that all agents are installed here; return what went wrong."""
        try:
            for bundle in self.agents:
                self.equip(load_agent(unpack(bundle, cache_folder())))
        except Fault as fault:
            return fault.detail
        return ""

    def look_at_gpus(self) -> str:
        """See to it that a run would see what this actor holds; return what went wrong."""
        try:
            return unseen(held_names(), self.isolation, _venv())
        except Fault as fault:
            return fault.detail

    def equip(self, agent: Agent) -> Path | None:
        """Return the agent's own venv, built now if it must be; that is never the attempt's doing either."""
        try:
            agent.mounts()
        except UserError as error:
            raise Fault("sandbox_error", str(error)) from None
        if agent.file.venv is None:
            return None
        there = agent_venv.installed(agent.folder, agent.file.venv)
        if there is None and self.no_install:
            remedy = f"run 'mldevbench agents install {agent.id}' there, or leave out --no-install"
            raise Fault("sandbox_error", f"agent {agent.id!r} isn't installed; {remedy}")
        try:
            return there or agent_venv.build(agent.folder, agent.file.venv)
        except UserError as error:
            raise Fault("sandbox_error", f"agent {agent.id}: {error}") from None


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
            venv=_venv(),
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


def _venv() -> Path:
    try:
        return task_venv.path()
    except UserError as error:
        raise Fault("sandbox_error", str(error)) from None


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
