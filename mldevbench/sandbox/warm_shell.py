"""Sandboxes in which a shell's `python` has torch already: for the known answers of a proof, never for an agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mldevbench.sandbox.cage import Cage, Wall
from mldevbench.sandbox.protocol import Bind, Finished, SandboxSpec
from mldevbench.sandbox.zygote import Zygote

SOURCE_INSIDE = "/run/warm_shell.py"
SOURCE = Bind(Path(__file__).parent / "inside" / "warm_shell.py", SOURCE_INSIDE)

lent: ContextVar[Zygote | None] = ContextVar("lent", default=None)


@contextmanager
def warm_shells(zygote: Zygote | None) -> Iterator[None]:
    """Let whatever opens a sandbox below get a warm one; none: an ordinary one."""
    token = lent.set(zygote)
    try:
        yield
    finally:
        lent.reset(token)


class WarmCage(Cage):
    """Hands its shell scripts to a zygote; all else is as in any sandbox."""

    def __init__(self, zygote: Zygote, spec: SandboxSpec, wall: Wall) -> None:
        super().__init__(spec, wall)
        self.zygote = zygote

    def run(self, argv: Sequence[str], *, seconds: float, **options: Any) -> Finished:
        if list(argv[:2]) == ["bash", "-c"]:
            return self.zygote.run(self, SOURCE_INSIDE, argv[2:], seconds=seconds, **options)
        return super().run(argv, seconds=seconds, **options)


def open_warm(spec: SandboxSpec, zygote: Zygote, *, cgroups: bool = True) -> Cage:
    """Open a sandbox that a zygote can enter, with our half of the shell in it."""
    bound = replace(spec, readonly=(*spec.readonly, SOURCE))
    return zygote.open(bound, cgroups=cgroups, kind=partial(WarmCage, zygote))
