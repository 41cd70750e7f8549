"""An agent: one folder with `agent.yaml` and a class that works on a task through its context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from mldevbench import digest, plugin, yamlfile
from mldevbench.agent_venv import VenvFile
from mldevbench.command import CommandAgent, CommandFile
from mldevbench.errors import UserError, unknown
from mldevbench.records import Budget, Step
from mldevbench.sandbox.protocol import Sandbox
from mldevbench.yamlfile import Strict

if TYPE_CHECKING:
    from mldevbench.model.door import Model
    from mldevbench.program import Programs


class AgentFile(Strict):
    """What `agent.yaml` may say."""

    version: Literal[1]
    summary: str
    entry: str = "agent:Agent"
    needs_model: bool = True
    gateway: bool = False  # runs a program inside that talks to the model by itself
    reports: bool = False  # that program tells its steps to the gateway, tool results and all
    venv: VenvFile | None = None  # a Python of the agent's own
    shows: list[str] = []  # files of the folder that its program may read inside, in /run/agent
    command: CommandFile | None = None  # instead of an entry: a program of any kind
    trusted: bool = False  # runs nothing but our own files, so a weak sandbox may do
    defaults: dict[str, Any] = {}
    gives: list[Literal["solution"]] = []


class Context(Protocol):
    """What an agent is given for one attempt."""

    sandbox: Sandbox
    model: Model | None
    budget: Budget
    gateway_url: str | None
    gateway_key: str | None
    seed: int
    solution: Path | None
    programs: Programs | None  # runs what talks to the model by itself, with the gateway in reach

    def record(self, step: Step) -> None:
        """Write one step to the trajectory, at once."""
        ...


class Solver(Protocol):
    def run(self, instruction: str, context: Context) -> None: ...


@dataclass(frozen=True)
class Agent:
    id: str
    folder: Path
    file: AgentFile

    def digest(self) -> str:
        return digest.of_tree(self.folder)[:16]

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the defaults with what the study sets; a parameter that the agent doesn't have is refused."""
        for name in params:
            if name not in self.file.defaults:
                raise unknown(f"parameter of agent {self.id}", name, self.file.defaults)
        return {**self.file.defaults, **params}

    @property
    def through_gateway(self) -> bool:
        """Whether a program of its own talks to the model."""
        return self.file.gateway or self.file.command is not None

    def mounts(self) -> tuple[Path, ...]:
        """Return the folders of this machine that its program needs, or say which isn't there."""
        if self.file.command is None:
            return ()
        for folder in self.file.command.missing():
            raise UserError(f"agent {self.id}: {folder} isn't on this machine; install it there, or correct `mounts`")
        return tuple(self.file.command.mounted())

    def create(self, params: Mapping[str, Any]) -> Solver:
        if self.file.command is not None:
            return CommandAgent(self.file.command, params)
        module, _, name = self.file.entry.partition(":")
        return getattr(plugin.load(self.folder / f"{module}.py"), name)(params)


def load_agent(folder: Path) -> Agent:
    if not (folder / "agent.yaml").is_file():
        raise UserError(f"{folder}: has no agent.yaml; see 'mldevbench agents list' for agents that do")
    return Agent(folder.name, folder.resolve(), yamlfile.load(folder / "agent.yaml", AgentFile))
