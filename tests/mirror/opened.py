"""A mirror that is open for a test."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from mldevbench.mirror.door import Mirror
from mldevbench.sandbox.cage import Cage


@dataclass(frozen=True)
class Opened:
    """A mirror that serves, and the sandbox around its client."""

    mirror: Mirror
    sandbox: Cage | None = None

    def log(self) -> list[dict[str, object]]:
        lines = self.mirror.log.path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def run(self, command: str, seconds: float = 200) -> str:
        assert self.sandbox is not None
        done = self.sandbox.run(["bash", "-c", command], seconds=seconds)
        return f"{done.output.decode()}[{done.exit_code}]"


Open = Callable[..., Opened]
