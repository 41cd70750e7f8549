"""What travels to the nodes: task and agent folders by digest, the public half apart from what judges."""

from __future__ import annotations

from functools import cache
from typing import Any

import ray

from mldevbench.bundle import pack
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
        return ray.put(pack({name: found.part(name) for name in parts}, found.id, found.category))

    def _public(self, task: str) -> Any:
        return self._task(task, PUBLIC)

    def _whole(self, task: str) -> Any:
        # The reference solution tells a broken validator from a submission that breaks it.
        return self._task(task, (*PUBLIC, *JUDGING, "solution"))

    def _pack_solution(self, task: str) -> Any:
        return self._task(task, ("solution",))

    def _agent(self, agent: str) -> Any:
        folder = self.catalog.agent(agent).folder
        return ray.put(pack({path.name: path for path in folder.iterdir()}, folder.name))
