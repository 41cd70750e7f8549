"""Where there is room: what the driver's actors hold on each node, and which idle ones stand in the way; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from cluster.shape import Node, Shape


@dataclass(frozen=True)
class Seat:
    """What one actor holds, and where; `node` is None until Ray has placed it."""

    number: int
    kind: str
    shape: Shape
    node: str | None = None
    idle: bool = False


def free_on(nodes: Sequence[Node], seats: Sequence[Seat]) -> dict[str, Shape]:
    """Return what is left on each node; what is not placed yet is counted where it would fit best."""
    free = {node.id: node.total for node in nodes}
    for seat in seats:
        if seat.node in free:
            free[seat.node] -= seat.shape
    for seat in seats:
        if seat.node is None and (chosen := room_for(seat.shape, nodes, free)):
            free[chosen] -= seat.shape
    return free


def room_for(
    shape: Shape, nodes: Sequence[Node], free: Mapping[str, Shape], closed: Collection[str] = ()
) -> str | None:
    """Return the node where the shape fits with the least left over, GPUs first."""
    open_ones = [node for node in nodes if node.id not in closed and node.offers(shape) and shape.fits(free[node.id])]
    if not open_ones:
        return None
    left = {node.id: free[node.id] - shape for node in open_ones}
    return min(left, key=lambda id_: (left[id_].gpus, left[id_].cpus, left[id_].memory_gb, id_))


def giving_way(
    shape: Shape, nodes: Sequence[Node], seats: Sequence[Seat], closed: Collection[str] = ()
) -> list[Seat] | None:
    """Return the fewest idle actors of one node whose end makes room, validation first; None if none does."""
    free, best = free_on(nodes, seats), None
    for node in nodes:
        if node.id in closed or not node.offers(shape):
            continue
        idle = sorted(
            (seat for seat in seats if seat.idle and seat.node == node.id),
            key=lambda seat: (seat.kind != "validation", seat.number),
        )
        ended, left = [], free[node.id]
        while idle and not shape.fits(left):
            ended.append(idle.pop(0))
            left += ended[-1].shape
        if shape.fits(left) and (best is None or len(ended) < len(best)):
            best = ended
    return best


def node_to_keep(
    shape: Shape, nodes: Sequence[Node], seats: Sequence[Seat], closed: Collection[str] = ()
) -> str | None:
    """Return the node to be kept free for a shape that waits too long: the one that lacks least."""
    free = free_on(nodes, seats)
    able = [node for node in nodes if node.id not in closed and node.offers(shape)]

    def lacking(node: Node) -> tuple[float, float, float]:
        short = shape - free[node.id]
        return (max(short.gpus, 0.0), max(short.cpus, 0.0), max(short.memory_gb, 0.0))

    return min(able, key=lambda node: (lacking(node), node.id)).id if able else None
