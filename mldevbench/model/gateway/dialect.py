"""The forms in which a client may speak; each reads a request into ours and puts our reply into its own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mldevbench.model.gateway import answer
from mldevbench.model.gateway.request import ChatRequest, read_chat
from mldevbench.model.reply import Reply


@dataclass(frozen=True)
class Dialect:
    read: Callable[[Any], ChatRequest]  # raises Forbidden
    whole: Callable[[Reply], Mapping[str, Any]]
    events: Callable[[Reply, ChatRequest], Iterator[bytes]]
    problem: Callable[[str, str], Mapping[str, Any]]  # message, code
    broken: Callable[[Mapping[str, Any]], bytes]  # a problem in the middle of a stream
    alive: bytes = b": still working\n\n"  # what a stream says while there is nothing to say


def named_event(name: str, value: Mapping[str, Any]) -> bytes:
    """Return one event of a stream whose events have names."""
    return f"event: {name}\ndata: {json.dumps({'type': name, **value})}\n\n".encode()


CHAT = Dialect(
    read=read_chat,
    whole=answer.whole,
    events=lambda reply, asked: answer.events(reply, asked.include_usage),
    problem=answer.problem,
    broken=answer.event,
)
