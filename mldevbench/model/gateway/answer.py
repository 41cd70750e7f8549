"""Replies in the form of OpenAI's chat completions, whole or as a stream."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from mldevbench.model.gateway.request import MODEL
from mldevbench.model.reply import Reply


def whole(reply: Reply) -> dict[str, Any]:
    choice = {"index": 0, "message": _message(reply), "finish_reason": reply.finish}
    return {**_head(reply, "chat.completion"), "choices": [choice], "usage": usage_of(reply)}


def events(reply: Reply, include_usage: bool) -> Iterator[bytes]:
    """Yield the events of a stream, the last of which says that it is done."""
    head = _head(reply, "chat.completion.chunk")
    message = _message(reply)
    for index, call in enumerate(message.get("tool_calls", [])):
        call["index"] = index
    for delta, finish in ((message, None), ({}, reply.finish)):
        yield event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    if include_usage:
        yield event({**head, "choices": [], "usage": usage_of(reply)})
    yield b"data: [DONE]\n\n"


def event(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def problem(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": code, "code": code, "param": None}}


def usage_of(reply: Reply) -> dict[str, Any]:
    usage = reply.usage
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{reply.step}", "object": kind, "created": int(time.time()), "model": MODEL}


def _message(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.calls
        ]
    return message
