"""Ends at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mldevbench.agent import Context


class Noop:
    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = params

    def run(self, instruction: str, context: Context) -> None:
        pass
