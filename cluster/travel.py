"""What travels to the nodes: task and agent folders by digest, the public half apart from what judges."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import ray

from cluster.blame import fault_of
from mldevbench.bundle import Bundle, pack
from mldevbench.catalog import Catalog
from mldevbench.records import Run
from mldevbench.task import JUDGING, PUBLIC


class Luggage:
    """References to bundles, each put into Ray's store once."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.public = cache(self._public)
        self.whole = cache(self._whole)
        self.agent = cache(self._agent)
        self._solution = cache(self._pack_solution)

    def solution(self, run: Run) -> Any:
        """Only an agent that asks for it in its agent.yaml is given the solution."""
        wanted = "solution" in self.catalog.agent(run.spec.agent).file.gives
        return self._solution(run.task) if wanted else None

    def _task(self, task: str, parts: tuple[str, ...]) -> Any:
        found = self.catalog.task(task)
        return put(pack({name: found.part(name) for name in parts}, found.id, found.category))

    def _public(self, task: str) -> Any:
        return self._task(task, PUBLIC)

    def _whole(self, task: str) -> Any:
        # The reference solution tells a broken validator from a submission that breaks it.
        return self._task(task, (*PUBLIC, *JUDGING, "solution"))

    def _pack_solution(self, task: str) -> Any:
        return self._task(task, ("solution",))

    def _agent(self, agent: str) -> Any:
        return put(_whole_agent(self.catalog, agent))


def agents_with_packages(catalog: Catalog, agents: Iterable[str]) -> tuple[Bundle, ...]:
    """Return the folders of those agents that need packages of their own on every node."""
    names = [name for name in dict.fromkeys(agents) if catalog.agent(name).file.venv is not None]
    return tuple(_whole_agent(catalog, name) for name in names)


def _whole_agent(catalog: Catalog, agent: str) -> Bundle:
    folder = catalog.agent(agent).folder
    return pack({path.name: path for path in folder.iterdir()}, folder.name)


def put(bundle: Bundle) -> Any:
    """Put a bundle into Ray's store; where that has no room, say so rather than break."""
    try:
        return ray.put(bundle)
    except Exception as error:
        raise fault_of(error) or error from None
