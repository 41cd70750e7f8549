"""Ray for one command: embedded on this machine, or the cluster that it is pointed at."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path

import yaml

from cluster.bare import bare
from cluster.head import HeadWatch
from cluster.look import demand_answer, inside_job
from cluster.shape import Node, Shape
from mldevbench.errors import UserError

GIB = 1 << 30
NODE_ID = "ray.io/node-id"
LOOPBACK_ONLY = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"


def choose_address(said: str | None) -> str:
    """Return the option, else $RAY_ADDRESS, which Ray also sets inside a job, else `local`."""
    address = said or os.environ.get("RAY_ADDRESS") or "local"
    if address.startswith("ray://"):
        raise UserError(
            "--address ray://… is Ray Client, which loses its driver with the connection; use 'mldevbench submit'"
        )
    return address


@contextmanager
def session(address: str) -> Iterator[bool]:
    """Connect to Ray for the time of a study; yields whether it is embedded."""
    embedded = address == "local"
    if ":" in address:  # `auto` is looked up by Ray
        demand_answer(address)
    if embedded:
        # Read when Ray is imported; without it an embedded Ray listens on every interface.
        os.environ.setdefault(LOOPBACK_ONLY, "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # all is here already
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    _connect(address, sparing=embedded and not (inside_job() or "RAY_RUNTIME_ENV_HOOK" in os.environ))
    head = nullcontext() if embedded else HeadWatch(ray.get_runtime_context().gcs_address)
    try:
        with head, redirect_stdout(sys.stderr):  # Ray's own remarks would spoil what a script reads from us
            yield embedded
    finally:
        ray.shutdown()


def _connect(address: str, sparing: bool) -> None:
    import ray

    try:
        with bare() if sparing else nullcontext():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:  # a node that starts too slowly is a bare Exception to Ray
        if sparing:
            # A busy machine, and what the first start has read is in memory by now; or a Ray that wants all its parts.
            sys.stderr.write(f"  Ray didn't start ({str(error).splitlines()[0]}); once more, with all its parts\n")
            ray.shutdown()
            return _connect(address, sparing=False)
        raise UserError(
            f"no Ray at {address!r} ({str(error).splitlines()[0]}); start one with 'ray start --head', or try again"
        ) from None


def live_nodes() -> list[Node]:
    """Return the living nodes with what each has in all."""
    import ray

    return [
        Node(one["NodeID"], _shape(one["Resources"]), _kinds(one["Resources"], one["Labels"]), one["NodeName"])
        for one in ray.nodes()
        if one["Alive"]
    ]


def nodes_to_come() -> list[Node]:
    """Return a node of each type that an autoscaler could bring, as far as the head node's own file tells."""
    path = Path("~/ray_bootstrap_config.yaml").expanduser()  # where `ray up` leaves it
    if not path.is_file():
        return []
    types = (yaml.safe_load(path.read_text(encoding="utf-8")) or {}).get("available_node_types", {})
    return [
        Node("", _shape(one.get("resources", {})), _kinds(one.get("resources", {}), one.get("labels") or {}), name)
        for name, one in types.items()
        if one.get("max_workers", 0) > 0
    ]


def _shape(resources: Mapping[str, float]) -> Shape:
    return Shape(resources.get("CPU", 0.0), resources.get("GPU", 0.0), resources.get("memory", 0.0) / GIB)


def _kinds(resources: Mapping[str, float], labels: Mapping[str, str]) -> frozenset[str]:
    accelerators = [name.split(":", 1)[1] for name in resources if name.startswith("accelerator_type:")]
    return frozenset([*accelerators, *(f"{key}={value}" for key, value in labels.items() if key != NODE_ID)])
