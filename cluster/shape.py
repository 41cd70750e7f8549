"""What an actor reserves; actors of one shape can stand in for each other."""

from __future__ import annotations

from dataclasses import dataclass

from mldevbench.errors import UserError


@dataclass(frozen=True, order=True)
class Shape:
    cpus: float = 1.0
    gpus: float = 0.0

    def fits(self, free: Shape) -> bool:
        return self.cpus <= free.cpus + 1e-9 and self.gpus <= free.gpus + 1e-9

    def __add__(self, other: Shape) -> Shape:
        return Shape(self.cpus + other.cpus, self.gpus + other.gpus)

    def __sub__(self, other: Shape) -> Shape:
        return Shape(self.cpus - other.cpus, self.gpus - other.gpus)

    def __str__(self) -> str:
        return f"{self.cpus:g} CPUs, {self.gpus:g} GPUs"


def demand_placeable(shapes: set[Shape], nodes: list[Shape]) -> None:
    """Refuse what no node can ever hold: Ray itself would wait for it for ever."""
    for shape in sorted(shapes):
        if not any(shape.fits(node) for node in nodes):
            largest = "; ".join(sorted({str(node) for node in nodes})) or "none"
            raise UserError(
                f"no node can hold a run of {shape} (nodes have: {largest}); lower --gpus-per-run or --cpus-per-run"
            )
