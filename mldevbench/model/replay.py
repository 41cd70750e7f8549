"""A recorded trajectory turned into a script, so that it can be played again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from mldevbench.model.script import Script, Turn, TurnUsage
from mldevbench.records import Step


def script_of(steps: Iterable[Step], served: str = "replay") -> str:
    """Return the script that answers as the recorded model did, call by call."""
    turns = [_turn(step) for step in steps if step.role == "model"]
    return json.dumps(Script(served=served, turns=turns).model_dump(exclude_defaults=True))


def _turn(step: Step) -> Turn:
    answer: dict[str, Any] = json.loads(step.arguments or "{}")
    return Turn(
        text=step.text,
        reasoning=step.reasoning,
        calls=[{call["name"]: call["arguments"]} for call in answer.get("calls", [])],
        usage=TurnUsage(
            prompt=step.usage.prompt_tokens,
            completion=step.usage.completion_tokens,
            cached=step.usage.cached_tokens,
            reasoning=step.usage.reasoning_tokens,
        ),
        finish=answer.get("finish"),
    )
