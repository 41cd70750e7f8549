"""OpenHands: its SDK runs wholly inside; here it is only started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mldevbench.agent import Context

NO_BOUND = 100_000


class OpenHands:
    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = dict(params)

    def run(self, instruction: str, context: Context) -> None:
        assert context.programs is not None, "agent.yaml says that it needs the gateway"
        # One more than the budget has, so that it is the budget that ends it, and is named as the reason.
        iterations = (context.budget.steps or NO_BOUND) + 1
        settings = {"instruction": instruction, "seed": context.seed, "iterations": iterations, **self._params}
        context.programs.drive("inside.py", settings)
