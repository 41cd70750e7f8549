"""What a program inside says of its own steps, as it takes them; it adds to the trajectory and counts for nothing."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web

from mldevbench.model.door import Model
from mldevbench.records import Step

LONGEST_TEXT = 100_000  # characters of one report
MOST_BYTES = 64 * 1024 * 1024  # of all reports of a run
ROLES = ("tool", "note")  # a model's turns are recorded where they are counted, and nowhere else


class Reports:
    """Takes one run's reports; with `expected` they stand in for the tool results that requests carry."""

    def __init__(self, model: Model, *, expected: bool) -> None:
        self.expected = expected
        self._model = model
        self._bytes = 0

    async def take(self, request: web.Request) -> web.Response:
        body = await request.read()
        self._bytes += len(body)
        if self._bytes > MOST_BYTES:
            return web.json_response({"error": "the trajectory is full"}, status=413)
        try:
            step = step_of(json.loads(body), self._model.usage.steps)
        except (ValueError, TypeError, RecursionError) as error:
            return web.json_response({"error": str(error)}, status=400)
        self._model.record(step)
        return web.json_response({})


def step_of(said: Any, number: int) -> Step:
    """Read a report, or raise ValueError; the number of the step is ours to say."""
    if not isinstance(said, dict) or said.get("role") not in ROLES:
        raise ValueError(f"a report is an object with a role of {', '.join(ROLES)}")
    seconds = said.get("seconds") or 0.0
    code = said.get("exit_code")
    if type(seconds) not in (int, float) or not 0 <= seconds < 1e9 or type(code) not in (int, type(None)):
        raise ValueError("seconds and exit_code must be numbers")
    return Step(
        role=said["role"],
        text=_text(said.get("text")) or "",
        tool=_text(said.get("tool")),
        arguments=_text(said.get("arguments")),
        exit_code=code if code is None or abs(code) < 2**31 else None,
        seconds=float(seconds),
        number=number,
    )


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:LONGEST_TEXT]
