"""Whose fault an error is: what Ray raises, turned into a cause outside the attempt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from cluster.berth import Berth
from cluster.shape import Node
from mldevbench.errors import Fault
from mldevbench.records import Cause


def fault_of(error: BaseException) -> Fault | None:
    """Return the cause behind an actor's error, or None if it is the harness's own."""
    import ray.exceptions as rex

    if isinstance(error, rex.RayTaskError) and isinstance(error.cause, BaseException):
        error = error.cause
    if isinstance(error, Fault):
        return error
    # OutOfMemoryError is neither an actor's nor a task's error to Ray.
    lost = (rex.RayActorError, rex.OutOfMemoryError, rex.NodeDiedError, rex.WorkerCrashedError, rex.ObjectLostError)
    if isinstance(error, lost):
        return Fault(Cause.NODE_LOST, f"{type(error).__name__}: {str(error).splitlines()[0]}")
    if isinstance(error, rex.ObjectStoreFullError | rex.OutOfDiskError):
        return Fault(Cause.STORAGE_ERROR, "Ray's object store is full, and so is the disk that it spills to")
    return None


def unwrapped(error: BaseException) -> BaseException:
    """Return what an actor raised, without Ray's wrapping."""
    import ray.exceptions as rex

    if isinstance(error, rex.RayTaskError) and isinstance(error.cause, BaseException):
        return error.cause
    return error


def vanished(error: BaseException, node: str | None, living: Iterable[Node]) -> bool:
    """Whether an actor was lost with its whole node, or with the way to it."""
    import ray.exceptions as rex

    return isinstance(error, rex.ActorUnavailableError | rex.NodeDiedError) or node not in {one.id for one in living}


def berth_of(reference: Any) -> Berth | str:
    """Return what an actor says of its place, or what it died of before it could."""
    import ray

    try:
        return ray.get(reference)
    except Exception as error:
        fault = fault_of(error)
        if fault is None:
            raise unwrapped(error) from None
        return fault.detail
