"""Attacks the sandbox that it is given and records what it achieved, which should be nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mldevbench
from mldevbench.agent import Context
from mldevbench.records import Step

FOLDER = Path(__file__).parent
MARK = b"INTRUDER-REPORT "


class Intruder:
    def __init__(self, params: Mapping[str, Any]) -> None:
        self.search_seconds = float(params.get("search_seconds", 20))
        self.port = params.get("port")

    def run(self, instruction: str, context: Context) -> None:
        """Run the attack inside and record one note for each thing that worked."""
        done = context.sandbox.run(
            ["python3", "-"],
            seconds=self.search_seconds + 240,
            stdin=self.program(),
            keep_bytes=1_000_000,
        )
        for item in achieved(done.output):
            context.record(Step(role="note", text=f"achieved {item['name']}: {item['detail']}"))

    def program(self) -> bytes:
        """Return the attack with the host's true paths in it: knowing them must not help."""
        hints = {
            "repository": str(Path(mldevbench.__file__).parents[1]),
            "home": str(Path.home()),
            "search_seconds": self.search_seconds,
            "port": self.port,
        }
        parts = ["probes.py", "traces.py", "inside.py"]
        source = "\n".join((FOLDER / part).read_text(encoding="utf-8") for part in parts)
        # Each part is a file of its own for the reader, but one script for the sandbox.
        body = source.replace("from __future__ import annotations\n", "")
        return f"HINTS = {hints!r}\n{body}\nmain(HINTS)\n".encode()


def achieved(output: bytes) -> list[dict[str, str]]:
    """Return what an attack reports; one that didn't get to its end is an error, not a clean sheet."""
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if not lines:
        tail = output[-2000:].decode(errors="replace")
        raise RuntimeError(f"the attack didn't come to its end: {tail}")
    return json.loads(lines[-1][len(MARK) :])["achieved"]
