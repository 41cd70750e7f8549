"""A mirror that is open for a test."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass

from mldevbench.mirror.door import Mirror
from mldevbench.sandbox.cage import Cage


@dataclass(frozen=True)
class Opened:
    """A mirror that serves, and the sandbox around its client."""

    mirror: Mirror
    sandbox: Cage | None = None

    def log(self, lines: int = 1) -> list[dict[str, object]]:
        """Return the log once it has so many lines: a client has its answer a moment before the line is written."""
        deadline = time.monotonic() + 60
        while len(found := self.mirror.log.path.read_text(encoding="utf-8").splitlines()) < lines:
            assert time.monotonic() < deadline, found
            time.sleep(0.01)
        return [json.loads(line) for line in found]

    def run(self, command: str, seconds: float = 200) -> str:
        assert self.sandbox is not None
        done = self.sandbox.run(["bash", "-c", command], seconds=seconds)
        return f"{done.output.decode()}[{done.exit_code}]"


Open = Callable[..., Opened]
