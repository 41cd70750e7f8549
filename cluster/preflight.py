"""Before anything starts: whether every node can do the work, and whether what one writes another can read."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Sequence
from typing import Any

from cluster.berth import Berth, Wear
from cluster.job import Job
from cluster.session import live_nodes
from cluster.shape import Node
from cluster.site import Site
from mldevbench.errors import Fault, UserError
from mldevbench.store.place import Place

ANSWER_SECONDS = 120.0
INSTALL_SECONDS = 1800.0
LEAST_STORAGE_MB = 100
LEAVE_SECONDS = 30.0  # that Ray may go on listing a node that has died
LOOK_SECONDS = 0.5


class ProbeLost(Exception):
    """A node's probe died, or never came to life."""

    def __init__(self, node: Node, detail: str) -> None:
        super().__init__(detail)
        self.node = node


class Probe:
    """Looks at one node from inside."""

    def __init__(self, site: Site) -> None:
        site.settle()
        self.site = site

    def look(self) -> Berth:
        return self.site.berth(Wear(), [])

    def equip(self) -> str:
        """Install what the study's agents need; return what went wrong."""
        return self.site.equip_all()

    def write(self, place: Place, name: str) -> str:
        """Leave a file in the storage; return what went wrong."""
        try:
            place.write(name, name.encode())
        except (Fault, OSError) as error:
            return str(error)
        return ""

    def read(self, place: Place, name: str) -> str:
        """Read that file; return what went wrong."""
        try:
            return "" if place.read(name) == name.encode() else "it holds something else there"
        except (Fault, OSError) as error:
            return str(error)


def preflight(job: Job, embedded: bool) -> None:
    """Refuse to begin where something can't work, in one line that names the node and the remedy."""
    demand_room(job.store.place)
    if embedded:
        _demand_fit([Probe(job.site).look()])
        return
    while True:
        try:
            return _examine(job, live_nodes())
        except ProbeLost as lost:
            if not _leaves(lost.node):
                raise UserError(f"node {lost.node.name} can't start our code: {lost}") from None


def _examine(job: Job, nodes: Sequence[Node]) -> None:
    probes = [_probe(job.site, node) for node in nodes]
    try:
        _demand_fit(_answers([probe.look.remote() for probe in probes], nodes))
        _demand_shared(job.store.place, probes, nodes)
        _demand_agents(probes if job.site.agents else [], nodes)
    finally:
        _end(probes)


def demand_room(place: Place) -> None:
    """Refuse a storage on a disk that is as good as full."""
    folder = place.local
    if folder is None:
        return
    while not folder.exists():
        folder = folder.parent
    free_mb = shutil.disk_usage(folder).free / 1e6
    if free_mb < LEAST_STORAGE_MB:
        raise UserError(
            f"storage {place.shown!r} has only {free_mb:.0f} MB free; make room or choose another --storage"
        )


def _leaves(node: Node) -> bool:
    """Tell whether a node is gone or about to be, so that the others can do without it."""
    deadline = time.monotonic() + LEAVE_SECONDS
    while time.monotonic() < deadline:
        if node.id not in {one.id for one in live_nodes()}:
            return True
        time.sleep(LOOK_SECONDS)
    return False


def _probe(site: Site, node: Node) -> Any:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    where = NodeAffinitySchedulingStrategy(node.id, soft=False)
    remote: Any = ray.remote
    return remote(num_cpus=0, max_restarts=0, scheduling_strategy=where)(Probe).remote(site)


def _answers(references: Sequence[Any], nodes: Sequence[Node], seconds: float = ANSWER_SECONDS) -> list[Any]:
    """Return each node's answer; one that is silent is named."""
    import ray
    from ray.exceptions import GetTimeoutError, RayError

    found = []
    for reference, node in zip(references, nodes, strict=True):
        try:
            found.append(ray.get(reference, timeout=seconds))
        except GetTimeoutError:
            raise UserError(f"node {node.name} didn't answer within {seconds:.0f} s; take it out") from None
        except RayError as error:
            raise ProbeLost(node, str(error).splitlines()[0]) from None
    return found


def _demand_fit(berths: Sequence[Berth]) -> None:
    for berth in berths:
        if berth.complaint:
            raise UserError(f"node {berth.host}-{berth.node[:6]}: {berth.complaint}")


def _demand_agents(probes: Sequence[Any], nodes: Sequence[Node]) -> None:
    """Have every node install the agents' packages now, while it costs nobody a GPU."""
    answers = _answers([probe.equip.remote() for probe in probes], nodes, INSTALL_SECONDS) if probes else []
    for node, said in zip(nodes, answers, strict=False):
        if said:
            raise UserError(f"node {node.name}: {said}")


def _demand_shared(place: Place, probes: Sequence[Any], nodes: Sequence[Node]) -> None:
    """Write on the last node, read on all: a folder of one machine is no storage for a cluster."""
    name = f".probe-{secrets.token_hex(8)}"
    (said,) = _answers([probes[-1].write.remote(place, name)], nodes[-1:])
    if said:
        raise UserError(f"storage {place.shown!r} can't be written on node {nodes[-1].name}: {said}")
    complaints = _answers([probe.read.remote(place, name) for probe in probes], nodes)
    try:
        place.remove(name)
    except (Fault, OSError) as error:
        raise UserError(f"storage {place.shown!r} can't be written here: {error}") from None
    for node, said in zip(nodes, complaints, strict=True):
        if said:
            raise UserError(
                f"what node {nodes[-1].name} writes to storage {place.shown!r} isn't there on node {node.name}; "
                "give a folder that all nodes share, or a URL"
            )


def _end(probes: Sequence[Any]) -> None:
    import ray

    for probe in probes:
        ray.kill(probe, no_restart=True)
