"""How actors are asked of Ray: what they reserve, where they may be, and never restarted behind the driver's back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cluster.crew import Hire
from cluster.run_actor import RunWorker
from cluster.shape import Shape
from cluster.site import Site
from cluster.validation_actor import ValidationWorker

GIB = 1 << 30


def reservation(shape: Shape, closed: Collection[str] = ()) -> dict[str, Any]:
    """Return Ray's options for a shape on any node but the closed ones; a retry is the driver's decision."""
    options: dict[str, Any] = {"num_cpus": shape.cpus, "num_gpus": shape.gpus, "max_restarts": 0, "max_task_retries": 0}
    if shape.memory_gb:
        options["memory"] = int(shape.memory_gb * GIB)
    selector: dict[str, str] = {}
    if "=" in shape.gpu_type:
        label, value = shape.gpu_type.split("=", 1)
        selector[label] = value
    elif shape.gpu_type:
        options["accelerator_type"] = shape.gpu_type
    if closed:
        selector["ray.io/node-id"] = f"!in({','.join(sorted(closed))})"
    return options | ({"label_selector": selector} if selector else {})


def hirer(site: Site) -> Hire:
    """Return what makes actors that work at this site."""
    import ray

    remote: Any = ray.remote  # its types know no concurrency groups
    # A busy actor answers no call; the driver's word must reach it all the same.
    runs = remote(concurrency_groups={"control": 2})(RunWorker)
    judges = remote(ValidationWorker)

    def hire(kind: str, shape: Shape, closed: frozenset[str]) -> Any:
        worker = runs if kind == "run" else judges
        return worker.options(**reservation(shape, closed)).remote(site)

    return hire
