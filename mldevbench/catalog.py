"""The catalogue: which tasks and agents there are, found by their folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mldevbench.agent import Agent, load_agent
from mldevbench.errors import UserError, unknown
from mldevbench.task import Task, load_task

EXTRA = "extra"  # the category that `all` leaves out


def home() -> Path:
    """Return the folder that holds our own `tasks/` and `agents/`."""
    return Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Catalog:
    """The tasks and agents below some roots; a later root may not hide an earlier one's ids."""

    roots: tuple[Path, ...]

    @classmethod
    def of(cls, more: Sequence[Path] = ()) -> Catalog:
        for root in more:
            if not (root / "tasks").is_dir() and not (root / "agents").is_dir():
                raise UserError(f"--root {root}: has neither tasks/ nor agents/")
        return cls((home(), *(root.resolve() for root in more)))

    @cached_property
    def task_folders(self) -> dict[str, Path]:
        return self._folders("tasks/*/*/task.yaml")

    @cached_property
    def agent_folders(self) -> dict[str, Path]:
        return self._folders("agents/*/agent.yaml")

    def _folders(self, pattern: str) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for root in self.roots:
            for path in sorted(root.glob(pattern)):
                folder = path.parent
                if folder.name in found and found[folder.name] != folder:
                    raise UserError(
                        f"two folders are called {folder.name!r}: {found[folder.name]} and {folder}; rename one"
                    )
                found[folder.name] = folder
        return found

    @property
    def categories(self) -> dict[str, list[str]]:
        grouped: dict[str, list[str]] = {}
        for name, folder in self.task_folders.items():
            grouped.setdefault(folder.parent.name, []).append(name)
        return grouped

    def task(self, name: str) -> Task:
        if name not in self.task_folders:
            raise unknown("task", name, [*self.task_folders, *self.categories, "all"])
        if name not in self._loaded:
            self._loaded[name] = load_task(self.task_folders[name])
        return self._loaded[name]

    @cached_property
    def _loaded(self) -> dict[str, Task]:
        return {}

    def names(self, wanted: Sequence[str], without: Sequence[str] = ()) -> list[str]:
        """Expand ids, categories and `all` into task ids, each once, in the catalogue's order."""
        chosen = {name for word in wanted for name in self._expand(word)}
        chosen -= {name for word in without for name in self._expand(word)}
        return [name for name in self.task_folders if name in chosen]

    def _expand(self, word: str) -> list[str]:
        if word == "all":
            return [name for name, folder in self.task_folders.items() if folder.parent.name != EXTRA]
        if word in self.categories:
            return self.categories[word]
        if word in self.task_folders:
            return [word]
        raise unknown("task", word, [*self.task_folders, *self.categories, "all"])

    def tasks(self, wanted: Sequence[str], without: Sequence[str] = ()) -> list[Task]:
        return [self.task(name) for name in self.names(wanted, without)]

    def _met(self, agent: Agent) -> Agent:
        """Know an agent of a folder elsewhere by its id from now on."""
        known = self.agent_folders.setdefault(agent.id, agent.folder)
        if known.resolve() != agent.folder:
            raise UserError(f"two folders are called {agent.id!r}: {known} and {agent.folder}; rename one")
        return agent

    def agent(self, name: str) -> Agent:
        if "/" in name or name.startswith("."):
            return self._met(load_agent(Path(name)))
        if name not in self.agent_folders:
            raise unknown("agent", name, self.agent_folders)
        return load_agent(self.agent_folders[name])
