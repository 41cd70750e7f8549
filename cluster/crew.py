"""The actors that a driver has: warm ones are used again, and an idle one is a cache, never a claim."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cluster.berth import Berth
from cluster.floor import Seat, free_on, giving_way, node_to_keep, room_for
from cluster.shape import Node, Shape

IDLE_SECONDS = 30.0
LINGER_SECONDS = 5.0
PROMISE_SECONDS = 120.0  # longer than a start takes on a busy node: to begin anew only adds to the load
UNPLACED = 4  # actors that wait in Ray's own queue: what an autoscaler grows by
PASSES = 8  # starts of others before a node is kept free for what waits longest
STRIKES = 3
STILLBORN = 4  # actors in a row that die as they start, before new ones are asked for more slowly
LONGEST_REST_SECONDS = 60.0
AVOID_SECONDS = 600.0

Hire = Callable[[str, Shape, frozenset[str]], Any]


@dataclass(eq=False)
class Member:
    """An actor with its reservation."""

    number: int
    kind: str
    shape: Shape
    actor: Any
    coming: Any  # the reference that answers once it is placed and fit for work; None when it has
    node: str | None = None
    promised: bool = True  # False: there was no room for it, it only waits in Ray's queue
    busy: bool = False
    since: float = 0.0

    @property
    def idle(self) -> bool:
        return self.coming is None and not self.busy

    @property
    def seat(self) -> Seat:
        return Seat(self.number, self.kind, self.shape, self.node, self.idle)


class Crew:
    """Actors of two kinds on the nodes that there are."""

    def __init__(
        self, hire: Hire, nodes: list[Node], fresh: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.nodes = nodes
        self.fresh = fresh
        self.clock = clock
        self.members: list[Member] = []
        self.unfit: dict[str, str] = {}  # nodes that lack something, with what it is
        self._hire_actor = hire
        self._strikes: Counter[str] = Counter()
        self._avoided: dict[str, float] = {}
        self._numbers = itertools.count()
        self._stillborn = 0
        self._rest_until = 0.0
        self._on_the_way: Counter[tuple[str, Shape]] = Counter()
        self._blocked: list[tuple[str, Shape]] = []
        self._passes: Counter[tuple[str, Shape]] = Counter()  # by what found no room: how often others went ahead
        self.kept: tuple[str, Shape, str] | None = None  # kind and shape that a node is kept for

    def begin_round(self) -> None:
        """Forget what was wanted in the last round; call before each round of requests."""
        self._see_broken_promises()
        coming = [one for one in self.members if one.coming is not None and (one.promised or one.node)]
        self._on_the_way = Counter((one.kind, one.shape) for one in coming)
        self._blocked = []

    def _see_broken_promises(self) -> None:
        """Take back promises of room that another of ours was given by Ray, or, it seems, somebody else's."""
        now = self.clock()
        free = free_on(self.nodes, [one.seat for one in self.members if one.node])
        for one in [one for one in self.members if one.node is None and one.promised]:
            node = room_for(one.shape, self.nodes, free)
            if node is None or now - one.since > PROMISE_SECONDS:
                one.promised, one.since = False, now
            else:
                free[node] -= one.shape

    def request(self, kind: str, shape: Shape) -> Member | None:
        """Return an actor that is ready, or see to it that one comes; requests come in the order of their worth."""
        wanted = (kind, shape)
        if member := self._warm(kind, shape):
            member.busy, member.since = True, self.clock()
            self._count_pass(wanted)
            return member
        if self._on_the_way[wanted] > 0:
            self._on_the_way[wanted] -= 1
            return None
        if self.clock() >= self._rest_until and wanted not in self._blocked and not self._make_room(kind, shape):
            self._block(wanted)
        return None

    def blocked(self, kind: str, shape: Shape) -> bool:
        """Whether a request of this round found no room; further ones are in vain."""
        return (kind, shape) in self._blocked

    def _warm(self, kind: str, shape: Shape) -> Member | None:
        closed = self._closed(kind, shape)
        idle = (one for one in self.members if one.idle and one.kind == kind and one.node not in closed)
        return min((one for one in idle if one.shape.covers(shape)), key=lambda one: one.shape, default=None)

    def _make_room(self, kind: str, shape: Shape) -> bool:
        queued = next((one for one in self._unplaced() if (one.kind, one.shape) == (kind, shape)), None)
        closed = self._closed(kind, shape)
        seats = [replace(one.seat, idle=self._may_go(one, kind)) for one in self.members if one is not queued]
        if room_for(shape, self.nodes, free_on(self.nodes, seats), closed) is None:
            ended = giving_way(shape, self.nodes, seats, closed)
            if not ended:
                return False
            numbers = {seat.number for seat in ended}
            for member in [one for one in self.members if one.number in numbers]:
                self.dismiss(member)
            self._clear_queue_for((kind, shape))
        if queued is None:
            self._hire(kind, shape, closed)
        else:
            queued.promised, queued.since = True, self.clock()
        return True

    def _block(self, wanted: tuple[str, Shape]) -> None:
        self._blocked.append(wanted)
        if len(self._blocked) > 1:
            return
        self._clear_queue_for(wanted)
        if len(self._unplaced()) < UNPLACED:
            self._hire(*wanted, self._closed(*wanted), promised=False)

    def _clear_queue_for(self, wanted: tuple[str, Shape]) -> None:
        """Let nothing else stand in Ray's queue beside what is to come first: Ray knows no order of worth."""
        for other in self._unplaced():
            if (other.kind, other.shape) != wanted:
                self.dismiss(other)

    def _may_go(self, one: Member, kind: str) -> bool:
        """Whether an actor may be ended for another: a judge that runs drive out at once is soon missed again."""
        spared = kind == "run" and one.kind == "validation" and self.clock() - one.since < LINGER_SECONDS
        return one.idle and not spared

    def _unplaced(self) -> list[Member]:
        return [one for one in self.members if one.node is None and not one.promised]

    def _count_pass(self, wanted: tuple[str, Shape]) -> None:
        """Keep a node for what found no room, once enough of less worth went ahead of it."""
        del self._passes[wanted]
        if self.kept and self.kept[:2] == wanted:
            self.kept = None
        for other in self._blocked:
            self._passes[other] += 1
            if self._passes[other] >= PASSES and self.kept is None:
                seats = [one.seat for one in self.members]
                node = node_to_keep(other[1], self.nodes, seats, self._closed(*other))
                self.kept = (*other, node) if node else None

    def _closed(self, kind: str, shape: Shape) -> frozenset[str]:
        """Return the nodes that this must not use: those that lack something, that keep failing, that are kept."""
        closed = set(self.unfit)
        if self.kept and self.kept[:2] != (kind, shape):
            closed.add(self.kept[2])
        now = self.clock()
        avoided = {node for node, until in self._avoided.items() if until > now}
        # Better a node that fails now and then than none.
        if any(node.offers(shape) for node in self.nodes if node.id not in closed | avoided):
            closed |= avoided
        return frozenset(closed)

    def _hire(self, kind: str, shape: Shape, closed: frozenset[str], promised: bool = True) -> None:
        actor = self._hire_actor(kind, shape, closed)
        member = Member(next(self._numbers), kind, shape, actor, actor.ready.remote(), since=self.clock())
        member.promised = promised
        self.members.append(member)

    def coming(self) -> list[Any]:
        """Return the references that answer when an actor has its place."""
        return [one.coming for one in self.members if one.coming is not None]

    def arrived(self, reference: Any, berth: Berth | str) -> str | None:
        """Take in an actor's answer, or what it died of; return a new complaint, if there is one."""
        member = next(one for one in self.members if one.coming is reference)
        member.coming, member.since = None, self.clock()
        if isinstance(berth, str):
            self.dismiss(member)
            return self._rest(berth)
        self._stillborn = 0
        if berth.worn:
            self.dismiss(member)
            return None
        member.node = berth.node
        if not berth.complaint:
            return None
        self.dismiss(member)
        new = berth.node not in self.unfit
        self.unfit[berth.node] = berth.complaint
        return f"left out: {berth.host}: {berth.complaint}" if new else None

    def _rest(self, detail: str) -> str | None:
        """Ask for the next actor later if they all die as they start: hiring on and on only adds to what kills them."""
        self._stillborn += 1
        over = self._stillborn - STILLBORN
        if over >= 0:
            self._rest_until = self.clock() + min(LONGEST_REST_SECONDS, 2.0**over)
        return f"actors die as they start, still trying: {detail}" if over == 0 else None

    def release(self, member: Member, broken: bool = False) -> None:
        """Take an actor back; it is idle once it says that it is fit for more."""
        member.busy, member.since = False, self.clock()
        if broken or self.fresh:
            self.dismiss(member)
        else:
            member.coming = member.actor.ready.remote()

    def strike(self, node: str | None, fault: bool) -> None:
        """Remember how work on a node ended; one that keeps failing is avoided for a while."""
        if node is None:
            return
        self._strikes[node] = self._strikes[node] + 1 if fault else 0
        if self._strikes[node] >= STRIKES:
            self._avoided[node] = self.clock() + AVOID_SECONDS

    def tidy(self, wanted: set[tuple[str, Shape]]) -> None:
        """End what has been idle for long, and what still waits for a place that nothing needs any more."""
        now = self.clock()
        if self.kept and self.kept[:2] not in wanted:
            self.kept = None
        for one in list(self.members):
            useless = one.node is None and not one.busy and (one.kind, one.shape) not in wanted
            if useless or (one.idle and now - one.since > IDLE_SECONDS):
                self.dismiss(one)

    def busy(self, kind: str) -> int:
        return sum(one.busy and one.kind == kind for one in self.members)

    def dismiss(self, member: Member) -> None:
        self.members.remove(member)
        self._end(member.actor)

    def end(self) -> None:
        for member in list(self.members):
            self.dismiss(member)

    @staticmethod
    def _end(actor: Any) -> None:
        import ray

        ray.kill(actor, no_restart=True)
