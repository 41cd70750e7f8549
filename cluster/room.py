"""How much each piece of work reserves on the nodes that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache

from cluster.job import Job
from cluster.session import nodes_to_come
from cluster.shape import Node, Shape, clamped, demand_placeable
from mldevbench.errors import UserError
from mldevbench.records import Run


class Rooms:
    """Shapes for runs and validations; in the mini profile nothing is larger than the largest node."""

    def __init__(self, job: Job, nodes: list[Node]) -> None:
        self.job = job
        self.nodes = nodes
        self.to_come = nodes_to_come()
        self.possible = [*nodes, *self.to_come]
        self._cut: list[str] = []
        self._of_task = cache(self._shape)
        shapes = Counter(self.run(run) for run in job.plan.runs)
        self._typical = _mean(shapes)
        if not job.policy.wait_for_nodes:
            demand_placeable(shapes, self.possible)

    def see(self, nodes: list[Node]) -> list[Node]:
        """Take in the nodes as they are now."""
        self.nodes = nodes
        return nodes

    def run(self, run: Run) -> Shape:
        return self._of_task(run.task, run.gpus, run.profile)

    def _shape(self, task: str, gpus: float, profile: str) -> Shape:
        wanted = self.job.shape(task, gpus)
        if profile != "mini" or self.job.policy.wait_for_nodes:
            return wanted
        shape = clamped(wanted, self.possible)
        # A type that nobody has is a mistake, not a matter of size.
        if shape == wanted or wanted.gpu_type not in ("", *(kind for node in self.possible for kind in node.kinds)):
            return wanted
        self._cut.append(f"{task} asks for {wanted} and gets {shape}")
        return shape

    @property
    def notes(self) -> list[str]:
        """Say in one line what had to be made smaller."""
        more = f", and {len(self._cut) - 1} more tasks get less too" if len(self._cut) > 1 else ""
        return [f"no node is large enough: {self._cut[0]}{more}"] if self._cut else []

    def validation(self, run: Run) -> Shape:
        """A place of its own for validation would cost a small machine half of its runs."""
        wanted = self.job.catalog.task(run.task).validation.gpus
        # What is large is not judged on a CPU because the GPUs are away for a while.
        having = self.nodes if run.profile == "mini" else [*self.possible, *self.nodes]
        gpus = min(wanted, max((node.total.gpus for node in having), default=0.0))
        return Shape(1.0 if self._cpus >= 4 else 0.0, gpus, 0.0, self.job.gpu_type if gpus else "")

    @property
    def judges(self) -> int:
        """How many validations at once."""
        return max(1, int(self._cpus // 4))

    @property
    def _cpus(self) -> float:
        return sum(node.total.cpus for node in self.nodes)

    def slots(self) -> int:
        """Return about how many runs fit at once: what the nodes have over what a run of the plan needs on average."""
        total = sum((node.total for node in self.nodes), Shape(0.0))
        most = total.over(self._typical)
        return max(int(min(most, self.job.policy.runs_at_once or most)), 1)

    def gpu_type(self, run: Run, node: str | None) -> str | None:
        """Return the accelerator that a run on this node held."""
        kinds = next((one.kinds for one in self.nodes if one.id == node), frozenset())
        named = sorted(kind for kind in kinds if "=" not in kind)
        return named[0] if self.run(run).gpus and named else None

    def demand_some_fit(self, unfit: Mapping[str, str]) -> None:
        """Refuse to wait for nodes that all lack something."""
        waiting = self.to_come or self.job.policy.wait_for_nodes
        if self.nodes and all(node.id in unfit for node in self.nodes) and not waiting:
            raise UserError(f"no node can run anything: {next(iter(unfit.values()))}")


def _mean(shapes: Counter[Shape]) -> Shape:
    """Return what a run reserves on average."""
    count = max(shapes.total(), 1)
    total = sum((shape.times(number) for shape, number in shapes.items()), Shape(0.0))
    return total.times(1 / count)
