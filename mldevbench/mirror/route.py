"""What a task may have an address answer instead of the file of that name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A wrong answer at one address: a status with a body, or the file's beginning and then silence."""

    path: str
    status: int = 200
    body: bytes = b""
    cut_after: int | None = None  # bytes of the file, after which the connection is cut
    times: int | None = None  # only so often, then the file; None is always


def fails(path: str, status: int, body: bytes | str = b"", *, times: int | None = None) -> Fault:
    """Let an address answer with an error status, always or so many times."""
    return Fault(path.lstrip("/"), status, body.encode() if isinstance(body, str) else body, times=times)


def cut(path: str, after: int = 0, *, times: int | None = None) -> Fault:
    """Let every connection break at this byte of the file, so that no range leads past it; 0 is before any answer."""
    return Fault(path.lstrip("/"), cut_after=after, times=times)
