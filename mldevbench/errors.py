"""The errors that people see: one line that names the thing and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Wrong use or a machine that lacks something; the command ends with exit code 2."""


class Fault(Exception):
    """Something outside the attempt broke; the attempt is void with this cause."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(f"{cause}: {detail}")
        self.cause = cause
        self.detail = detail

    def __reduce__(self) -> tuple[type[Fault], tuple[str, str]]:
        return Fault, (self.cause, self.detail)


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """Return the error for a name that doesn't exist, with the nearest one that does."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names[:12]) or 'none'}"
    return UserError(f"unknown {kind} {name!r}; {hint}")
