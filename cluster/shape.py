"""What an actor reserves, and what a node has; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mldevbench.errors import UserError

SLACK = 1e-6


@dataclass(frozen=True, order=True)
class Shape:
    """An amount of everything; an actor can stand in for another that differs in having less memory only."""

    cpus: float = 1.0
    gpus: float = 0.0
    memory_gb: float = 0.0
    gpu_type: str = ""  # an accelerator, or a node's label as key=value

    def fits(self, free: Shape) -> bool:
        return (
            self.cpus <= free.cpus + SLACK
            and self.gpus <= free.gpus + SLACK
            and self.memory_gb <= free.memory_gb + SLACK
        )

    def covers(self, other: Shape) -> bool:
        """Whether an actor of this shape can do the other's work: memory in excess does no harm."""
        return replace(self, memory_gb=other.memory_gb) == other and self.memory_gb >= other.memory_gb - SLACK

    def __add__(self, other: Shape) -> Shape:
        return Shape(self.cpus + other.cpus, self.gpus + other.gpus, self.memory_gb + other.memory_gb)

    def __sub__(self, other: Shape) -> Shape:
        return Shape(self.cpus - other.cpus, self.gpus - other.gpus, self.memory_gb - other.memory_gb)

    def times(self, number: float) -> Shape:
        return Shape(self.cpus * number, self.gpus * number, self.memory_gb * number)

    def over(self, other: Shape) -> float:
        """Return how often the other amount is in this one."""
        pairs = ((self.cpus, other.cpus), (self.gpus, other.gpus), (self.memory_gb, other.memory_gb))
        return min((have / need for have, need in pairs if need > SLACK), default=self.cpus)

    def __str__(self) -> str:
        memory = f", {self.memory_gb:g} GB of memory" if self.memory_gb else ""
        return f"{self.cpus:g} CPUs, {self.gpus:g} GPUs{memory}" + (f" of type {self.gpu_type}" * bool(self.gpu_type))


@dataclass(frozen=True)
class Node:
    """A node as it is in all; one that an autoscaler could bring has no id."""

    id: str
    total: Shape
    kinds: frozenset[str] = frozenset()  # its accelerators, and its labels as key=value
    name: str = ""

    def offers(self, shape: Shape) -> bool:
        """Whether it can hold the shape when nothing else is there."""
        return (not shape.gpu_type or shape.gpu_type in self.kinds) and shape.fits(self.total)


def demand_placeable(shapes: Iterable[Shape], nodes: Sequence[Node]) -> None:
    """Refuse what no node can ever hold: Ray itself would wait for it for ever."""
    for shape in sorted(set(shapes)):
        if any(node.offers(shape) for node in nodes):
            continue
        known = sorted({kind for node in nodes for kind in node.kinds})
        if shape.gpu_type and shape.gpu_type not in known:
            raise UserError(
                f"no node has GPU type or label {shape.gpu_type!r} (known: {', '.join(known) or 'none'}); "
                "change --gpu-type or leave it out"
            )
        largest = "; ".join(sorted({str(node.total) for node in nodes})) or "none"
        raise UserError(
            f"no node can hold a run of {shape} (nodes have: {largest}); lower --gpus-per-run or --cpus-per-run"
        )


def clamped(shape: Shape, nodes: Sequence[Node]) -> Shape:
    """Return the shape, made smaller until the largest node can hold it."""
    if not nodes or any(node.offers(shape) for node in nodes):
        return shape
    having = [node for node in nodes if not shape.gpu_type or shape.gpu_type in node.kinds] or list(nodes)
    largest = max(having, key=lambda node: (min(node.total.gpus, shape.gpus), node.total.cpus, node.total.memory_gb))
    total = largest.total
    return replace(
        shape,
        cpus=min(shape.cpus, total.cpus),
        gpus=min(shape.gpus, total.gpus),
        memory_gb=min(shape.memory_gb, total.memory_gb),
        gpu_type=shape.gpu_type if total.gpus else "",
    )
