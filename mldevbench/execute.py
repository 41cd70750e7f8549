"""The working half of an attempt: workspace, sandbox, agent, submission; it never sees what judges."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from mldevbench import workspace
from mldevbench.agent import Agent
from mldevbench.command import AGENT_FOLDER
from mldevbench.draw import Draw
from mldevbench.errors import Fault, UserError
from mldevbench.guard import GuardedSandbox
from mldevbench.mirror.doors import Doors, Opening, open_doors
from mldevbench.model.budget import AgentStopped, BudgetMeter
from mldevbench.model.door import Model, ModelSpec
from mldevbench.model.pacer import LocalPacer, Pacer
from mldevbench.model.secrets import Scrubber
from mldevbench.model.upstream import Upstream
from mldevbench.program import Programs
from mldevbench.records import Budget, Run, Step, StopReason, Submitted
from mldevbench.sandbox import Bind, Limits, Sandbox, SandboxSpec
from mldevbench.sandbox.gpu import DRIVER, seen_gpus
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import thread_count
from mldevbench.snapshot import Snapshots, gather, parse_grid
from mldevbench.store.place import Place
from mldevbench.submission import Manifest, collect, erase
from mldevbench.task import Task
from mldevbench.trajectory import Trajectory

if TYPE_CHECKING:
    from mldevbench.model.gateway import Gateway

GRACE_SECONDS = 20.0
GATEWAY_SOCKET = "/run/gateway.sock"


@dataclass(frozen=True)
class Order:
    """What a run actor is told about one attempt."""

    study: str
    run: Run
    attempt: int
    draw: Draw
    isolation: str
    network: str = "none"
    model: ModelSpec | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    snapshot_every: str | None = None


@dataclass(frozen=True)
class Means:
    """What the node gives to it."""

    task: Task
    agent: Agent
    venv: Path | None
    scratch: Path
    place: Place  # the study's folder
    pacer: Pacer = field(default_factory=LocalPacer)
    upstream: Upstream | None = None  # None: the provider is called from this process
    solution: Path | None = None
    node: str = ""
    gpus: tuple[int, ...] = ()
    nodes: frozenset[str] = frozenset()  # the cluster's addresses, which no agent may reach
    agent_venv: Path | None = None  # the agent's own, where it has one


class Walls(NamedTuple):
    """What an agent really worked behind."""

    isolation: str
    limits: str  # cgroup or weak


class Attempt:
    """One execution; `stop` may be called from another thread at any time."""

    def __init__(self, order: Order, means: Means, clock: Callable[[], float] = time.monotonic) -> None:
        self.order = order
        self.means = means
        self.clock = clock
        self.meter = BudgetMeter(order.run.budget, order.model.price if order.model else None, clock)
        self._sandbox: GuardedSandbox | None = None
        self._talking: Model | None = None
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End the agent's processes at once."""
        self._stopped.set()
        if self._talking:
            self._talking.close()  # an agent that waits for its model would not notice otherwise
        if self._sandbox:
            self._sandbox.end()

    def execute(self) -> Submitted:
        started_at, began = datetime.now(UTC), self.clock()
        with _scratch(self.means.scratch) as scratch:
            inside = scratch / secrets.token_hex(8)
            task, draw, profile = self.means.task, self.order.draw, self.order.run.profile
            opening = Opening(self.order.isolation, self.order.network, self.means.nodes)
            with open_doors(task, draw, profile, scratch / "door", opening) as doors:
                instruction = workspace.build(task, draw, profile, inside, doors.url)
                reason, detail, walls = self._work(instruction, inside, scratch, doors)
            for part in doors.parts:
                self.means.place.take(f"{self._folder}/{part.log.path.name}", part.log.path)
            if self._stopped.is_set():
                raise Fault("cancelled", "the attempt was stopped from outside")
            finished_at, wall = datetime.now(UTC), self.clock() - began
            working = min(self.meter.working_seconds, wall)
            archive = f"{self._folder}/submission.tar"
            frozen = scratch / "submission.tar"
            manifest = collect(inside, task.submission, task.submission_max_mb, frozen, witness=task.protected)
            self.means.place.take(archive, frozen)
        return Submitted(
            self.order.run.run_id, self.order.attempt, archive, manifest.digest, reason, detail, self.meter.usage,
            started_at, finished_at, wall, working, walls.isolation, self.order.network, self.means.node,
            limits=walls.limits,
        )  # fmt: skip

    @property
    def _folder(self) -> str:
        return f"artifacts/{self.order.run.run_id}/{self.order.attempt}"

    def _gather(self, inside: Path, body: BinaryIO) -> Manifest:
        task = self.means.task
        return gather(inside, task.submission, task.submission_max_mb, body, witness=task.protected)

    def _snapshots(self, scratch: Path) -> Snapshots | None:
        every, run = self.order.snapshot_every, self.order.run
        if every is None or self.order.model is None:
            return None
        folder = self.means.place.child(f"artifacts/{run.run_id}/{self.order.attempt}")
        return Snapshots(parse_grid(every), self.meter, folder, scratch)

    def _work(self, instruction: str, inside: Path, scratch: Path, doors: Doors) -> tuple[StopReason, str, Walls]:
        folder = f"artifacts/{self.order.run.run_id}/{self.order.attempt}"
        scrub = Scrubber(self.order.secrets)
        snapshots = self._snapshots(scratch)
        with (
            Trajectory(scratch / "trajectory.jsonl", self.means.place.child(folder), scrub=scrub) as trajectory,
            self._model(trajectory, scrub, snapshots) as model,
            self._door(model, scratch) as gateway,
        ):
            sandbox = open_sandbox(self._spec(inside, gateway, doors), self.order.isolation)
            guarded = self._sandbox = GuardedSandbox(sandbox, self.meter)
            try:
                doors.serve(sandbox.listeners)
                if snapshots:
                    snapshots.watch(guarded, lambda body: self._gather(inside, body))
                context = AttemptContext(guarded, model, self.order, self.means, trajectory, gateway, self.meter)
                reason, detail = self._solve(instruction, context, guarded)
                if gateway and gateway.failure:
                    raise gateway.failure
            finally:
                if snapshots:
                    snapshots.close()
                guarded.close()
            return guarded.breach() or reason, detail, Walls(sandbox.isolation, sandbox.limits)

    def _spec(self, inside: Path, gateway: Gateway | None, doors: Doors) -> SandboxSpec:
        asked = self.means.task.resources
        limits = Limits(memory_mb=int(asked.memory_gb * 1024), disk_mb=int(asked.disk_gb * 1024))
        sockets = (Bind(gateway.socket, GATEWAY_SOCKET),) if gateway else ()
        minors, environment = seen_gpus(self.means.gpus, DRIVER.exists())
        return SandboxSpec(
            inside,
            readonly=(*(gateway.binds if gateway else ()), *shown_files(self.means.agent)),
            venv=self.means.venv,
            agent_venv=self.means.agent_venv,
            environment={**environment, **thread_count(asked.cpus), **doors.environment},
            limits=limits,
            gpus=minors,
            sockets=sockets,
            doors=doors.ports,
        )

    @contextmanager
    def _model(self, trajectory: Trajectory, scrub: Scrubber, snapshots: Snapshots | None) -> Iterator[Model | None]:
        if self.order.model is None:
            yield None
            return
        model = Model(
            self.order.model,
            budget=self.meter,
            pacer=self.means.pacer,
            upstream=self.means.upstream,
            seed=self.order.run.seed,
            record=trajectory.record,
            scrub=scrub,
            between=snapshots.look if snapshots else None,
        )
        self._talking = model
        try:
            yield model
        finally:
            model.close()

    @contextmanager
    def _door(self, model: Model | None, scratch: Path) -> Iterator[Gateway | None]:
        if model is None or not self.means.agent.through_gateway:
            yield None
            return
        if self.order.isolation == "process":
            agent = self.means.agent.id
            raise UserError(f"agent {agent!r} runs a program inside, which needs a real sandbox: --sandbox bubblewrap")
        from mldevbench.model.gateway import Gateway  # takes a moment, and most agents of ours need none

        gateway = Gateway(model, scratch / "gateway.sock", reports=self.means.agent.file.reports)
        gateway.start()
        try:
            yield gateway
        finally:
            gateway.close()

    def _solve(self, instruction: str, context: AttemptContext, sandbox: GuardedSandbox) -> tuple[StopReason, str]:
        """Let the agent work until it ends, breaks a bound or runs out of time."""
        ended: list[BaseException | None] = []

        def work() -> None:
            try:
                solver = self.means.agent.create(json.loads(self.order.run.spec.params))
                solver.run(instruction, context)
                ended.append(None)
            except BaseException as error:
                ended.append(error)

        thread = threading.Thread(target=work, name="agent", daemon=True)
        thread.start()
        thread.join(self.order.run.budget.wall_seconds)
        late = thread.is_alive()
        if late:
            sandbox.end()
            thread.join(GRACE_SECONDS)
        breach = sandbox.breach()
        if breach:
            return breach, ""
        if late:
            return StopReason.WALL_MINUTES, ""
        return _reason(ended[0])


def shown_files(agent: Agent) -> tuple[Bind, ...]:
    """Return what of the agent's folder its program may read inside."""
    shown = [Bind(agent.folder / name, f"{AGENT_FOLDER}/{name}") for name in agent.file.shows]
    return (*shown, *(Bind(folder, str(folder)) for folder in agent.mounts()))


def _reason(error: BaseException | None) -> tuple[StopReason, str]:
    """Name why the agent ended; what isn't its doing is raised again."""
    if error is None:
        return StopReason.FINISHED, ""
    if isinstance(error, AgentStopped):
        return error.stop_reason, error.detail
    if isinstance(error, Fault | UserError):
        raise error
    return StopReason.AGENT_ERROR, f"{type(error).__name__}: {error}"


class AttemptContext:
    """What the agent is given; see `mldevbench.agent.Context`."""

    def __init__(
        self, sandbox: GuardedSandbox, model: Model | None, order: Order, means: Means, trajectory: Trajectory,
        gateway: Gateway | None, meter: BudgetMeter,
    ) -> None:  # fmt: skip
        self.sandbox: Sandbox = sandbox
        self.model = model
        self.budget: Budget = order.run.budget
        self.seed = order.run.seed
        self.solution = means.solution
        self.gateway_url = gateway.url if gateway else None
        self.gateway_key = gateway.key if gateway else None
        python = f"{means.agent_venv}/bin/python" if means.agent_venv else None
        self.programs = Programs(sandbox, meter, gateway, python) if gateway else None
        self._trajectory = trajectory

    def record(self, step: Step) -> None:
        self._trajectory.record(step)


@contextmanager
def _scratch(parent: Path) -> Iterator[Path]:
    """Give a folder of a meaningless name, and leave nothing of it."""
    folder = parent / secrets.token_hex(8)
    folder.mkdir(parents=True, mode=0o711)
    try:
        yield folder
    finally:
        erase(folder)
