"""mini-swe-agent: its package runs wholly inside; here it is only started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mldevbench.agent import Context


class MiniSweAgent:
    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = dict(params)

    def run(self, instruction: str, context: Context) -> None:
        assert context.programs is not None, "agent.yaml says that it needs the gateway"
        context.programs.drive("inside.py", {"instruction": instruction, **self._params})
