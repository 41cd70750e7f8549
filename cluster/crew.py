"""The actors that a driver has: warm ones are used again, and an idle one is a cache, never a claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cluster.shape import Shape

Factory = Callable[[Shape], Any]


class Crew:
    """Actors of two kinds, within what the cluster has in all."""

    def __init__(self, total: Shape, factories: dict[str, Factory], fresh: bool = False) -> None:
        self.total = total
        self.factories = factories
        self.fresh = fresh
        self._idle: list[tuple[str, Shape, Any]] = []
        self._busy: dict[Any, tuple[str, Shape]] = {}

    @property
    def held(self) -> Shape:
        shapes = [shape for _, shape, _ in self._idle] + [shape for _, shape in self._busy.values()]
        return sum(shapes, start=Shape(0, 0))

    def busy(self, kind: str) -> int:
        return sum(some == kind for some, _ in self._busy.values())

    def take(self, kind: str, shape: Shape) -> Any | None:
        """Return an actor for one piece of work, or None while there is no room for it."""
        for entry in self._idle:
            if entry[:2] == (kind, shape):
                self._idle.remove(entry)
                self._busy[entry[2]] = entry[:2]
                return entry[2]
        while self._idle and not shape.fits(self.total - self.held):
            self._end(self._idle.pop(0)[2])
        if not shape.fits(self.total - self.held):
            return None
        actor = self.factories[kind](shape)
        self._busy[actor] = (kind, shape)
        return actor

    def give_back(self, actor: Any, broken: bool = False) -> None:
        """Take an actor back; a broken one is ended."""
        kind, shape = self._busy.pop(actor)
        if broken or self.fresh:
            self._end(actor)
        else:
            self._idle.append((kind, shape, actor))

    def end(self) -> None:
        for actor in [*self._busy, *(actor for _, _, actor in self._idle)]:
            self._end(actor)
        self._busy, self._idle = {}, []

    def working(self, kind: str) -> list[Any]:
        return [actor for actor, (some, _) in self._busy.items() if some == kind]

    @staticmethod
    def _end(actor: Any) -> None:
        import ray

        ray.kill(actor, no_restart=True)
