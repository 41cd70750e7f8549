"""What an actor is told of its study, and what it makes of its node by that."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import ray

from cluster.berth import Berth, Versions, Wear, complaint_of, worn
from cluster.gpus import held_names, unseen
from cluster.lodging import sweep
from cluster.raylet import end_with_raylet
from mldevbench import agent_venv, task_venv
from mldevbench.agent import Agent, load_agent
from mldevbench.assets import ensure
from mldevbench.bundle import Bundle, unpack
from mldevbench.cache import cache_folder
from mldevbench.errors import Fault, UserError
from mldevbench.task import Task


@dataclass(frozen=True)
class Site:
    """What an actor is told of its study."""

    scratch: str | None = None
    offline: bool = False  # whether assets that a node lacks may not be fetched
    no_install: bool = False  # whether agents that a node lacks may not be installed
    isolation: str = ""  # to be probed before work; none: whatever is asked for later
    versions: Versions | None = None  # what every node must have
    agents: tuple[Bundle, ...] = ()  # those of the study that have packages of their own
    cache: str | None = None  # none: where the node itself keeps it

    def settle(self) -> None:
        """Make this actor's process end with its node, and keep what can be made again where the study says."""
        end_with_raylet()
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
            return unseen(held_names(), self.isolation, self.venv())
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

    def venv(self) -> Path:
        """Return the venv in which tasks are worked on."""
        try:
            return task_venv.path()
        except UserError as error:
            raise Fault("sandbox_error", str(error)) from None
