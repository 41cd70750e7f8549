"""The frozen request in `study.yaml`: what was asked for so far, and whether more may be added to it."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Sequence
from typing import Any

import yaml

from mldevbench import __version__
from mldevbench.errors import UserError
from mldevbench.records import SCHEMA_VERSION, AgentSpec, Budget
from mldevbench.store.place import Place
from mldevbench.study import Request, TaskRef

FIXED = ("profile", "isolation", "network", "salt_digest")


def read_requests(place: Place) -> list[Request]:
    """Return a study's requests in the order they were made."""
    if not place.has("study.yaml"):
        return []
    raw = yaml.safe_load(place.read("study.yaml"))
    return [_restore(request) for request in raw["requests"]]


def add_request(place: Place, name: str, request: Request) -> list[Request]:
    """Freeze a request, after what is there; one that can't stand beside it is refused."""
    earlier = read_requests(place)
    for before in earlier:
        _refuse_difference(name, before, request)
    if request in earlier:
        return earlier
    requests = [*earlier, request]
    content = {
        "name": name,
        "schema": SCHEMA_VERSION,
        "mldevbench": __version__,
        "python": platform.python_version(),
        "requests": [_plain(dataclasses.asdict(one)) for one in requests],
    }
    place.write("study.yaml", yaml.safe_dump(content, sort_keys=False, allow_unicode=True).encode())
    return requests


def _refuse_difference(name: str, before: Request, now: Request) -> None:
    for key in FIXED:
        was, asked = getattr(before, key), getattr(now, key)
        if was != asked:
            raise UserError(
                f"study {name!r} has {key} {was!r}, not {asked!r}; choose another --name, or ask for {was!r}"
            )
    known = {spec.label: spec for spec in before.agents}
    for spec in now.agents:
        was = known.get(spec.label)
        if was and (was.agent, was.model, was.params) != (spec.agent, spec.model, spec.params):
            raise UserError(
                f"study {name!r} has the label {spec.label!r} for {_said(was)}, not {_said(spec)}; "
                "choose another --name or another label"
            )


def _said(spec: AgentSpec) -> str:
    return " ".join(part for part in (spec.agent, spec.model or "", spec.params) if part not in ("", "{}"))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def _restore(raw: dict[str, Any]) -> Request:
    return Request(
        **{
            **raw,
            "agents": tuple(AgentSpec(**spec) for spec in raw["agents"]),
            "tasks": tuple(TaskRef(**task) for task in raw["tasks"]),
            "seeds": tuple(raw["seeds"]),
            "budgets": tuple(Budget(**budget) for budget in raw["budgets"]),
        }
    )
