"""Ray for one command: embedded on this machine, or the cluster that it is pointed at."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

from cluster.shape import Shape
from mldevbench.errors import UserError

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
    if embedded:
        # Read when Ray is imported; without it an embedded Ray listens on every interface.
        os.environ.setdefault(LOOPBACK_ONLY, "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray

    try:
        if embedded:
            ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
        else:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError) as error:
        raise UserError(
            f"no Ray at {address!r} ({error}); start one with 'ray start --head' or leave --address out"
        ) from None
    try:
        yield embedded
    finally:
        ray.shutdown()


def node_shapes() -> list[Shape]:
    """Return what each living node has in all."""
    import ray

    return [
        Shape(node["Resources"].get("CPU", 0.0), node["Resources"].get("GPU", 0.0))
        for node in ray.nodes()
        if node["Alive"]
    ]
