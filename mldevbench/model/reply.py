"""What a model answered, in one form for every provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mldevbench.records import Usage


@dataclass(frozen=True)
class ToolCall:
    id: str
    name: str
    arguments: str  # JSON as the model wrote it, which may be broken


@dataclass(frozen=True)
class Reply:
    """One turn of the model; `message` is what goes back into the conversation."""

    step: int
    text: str
    calls: tuple[ToolCall, ...]
    reasoning: str | None
    finish: str
    usage: Usage
    message: Mapping[str, Any]
    fingerprint: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


def reply_of(raw: Mapping[str, Any], usage: Usage, step: int) -> Reply:
    """Read an answer in the form of OpenAI's chat completions."""
    choice = raw["choices"][0]
    message = {**choice["message"], "content": _sendable(choice["message"].get("content") or "")}
    calls = tuple(
        ToolCall(
            id=call.get("id") or f"call_{position}",
            name=_sendable(call["function"].get("name") or ""),
            arguments=_sendable(call["function"].get("arguments") or "{}"),
        )
        for position, call in enumerate(message.get("tool_calls") or [])
    )
    return Reply(
        step=step,
        text=message["content"],
        calls=calls,
        reasoning=message.get("reasoning_content"),
        finish=choice.get("finish_reason") or "stop",
        usage=usage,
        message=_to_send_back(message, calls),
        fingerprint=raw.get("system_fingerprint"),
        raw=raw,
    )


def _sendable(text: str) -> str:
    """Replace halves of characters, which a cut answer may end in and no later request could hold."""
    return text.encode("utf-8", "replace").decode()


def _to_send_back(message: Mapping[str, Any], calls: tuple[ToolCall, ...]) -> dict[str, Any]:
    kept: dict[str, Any] = {"role": "assistant", "content": message["content"]}
    if calls:
        kept["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    # Signed thinking must go back unchanged where tools are used; plain reasoning text is refused by some.
    if message.get("thinking_blocks"):
        kept["thinking_blocks"] = message["thinking_blocks"]
    return kept
