"""Anthropic's Messages: read by an allow-list of its own into our one form of request, and answered in its words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from mldevbench.model.gateway.dialect import Dialect, named_event
from mldevbench.model.gateway.request import MODEL, ChatRequest, demand, read_chat
from mldevbench.model.reply import Reply

SAMPLING = ("temperature", "top_p", "max_tokens")
READ = {*SAMPLING, "model", "messages", "system", "tools", "tool_choice", "stream", "stop_sequences"}
# How a provider may think, remember or account is the run's own matter; these say nothing that is passed on.
DROPPED = {"metadata", "thinking", "top_k", "context_management", "output_config"}
CHOICES = {"auto": "auto", "any": "required", "none": "none"}
STOPPED = {"length": "max_tokens", "tool_calls": "tool_use", "function_call": "tool_use"}
UNSAID = {"thinking", "redacted_thinking"}  # what a client echoes of an answer without having been given it


def read_messages(body: Any) -> ChatRequest:
    """Put a request into the form of chat completions, whose own allow-list then decides."""
    demand(isinstance(body, dict), "body", "must be an object")
    for field in body:
        demand(field in READ or field in DROPPED, field, "is not allowed here")
    demand(isinstance(body.get("messages"), list), "messages", "must be a list")
    messages = [{"role": "system", "content": _text(body["system"], "system")}] if body.get("system") else []
    for message in body["messages"]:
        messages += _message(message)
    chat: dict[str, Any] = {"model": body.get("model"), "messages": messages, "stream": body.get("stream") is True}
    chat |= {field: body[field] for field in SAMPLING if body.get(field) is not None}
    if body.get("stop_sequences"):
        chat["stop"] = body["stop_sequences"]
    if body.get("tools"):
        chat["tools"] = [_tool(tool) for tool in body["tools"]]
        chat |= _choice(body.get("tool_choice"))
    return read_chat(chat)


def _message(message: Any) -> Iterator[dict[str, Any]]:
    """Yield a message as chat completions have it; results of tools are messages of their own there."""
    role = message.get("role") if isinstance(message, dict) else None
    demand(role in ("system", "user", "assistant"), "messages", "one has no known role")
    content = message.get("content")
    if isinstance(content, str):
        yield {"role": role, "content": content}
        return
    demand(isinstance(content, list), "messages.content", "must be text or a list")
    blocks = [block for block in content or () if isinstance(block, dict) and block.get("type") not in UNSAID]
    for block in blocks:
        if block.get("type") == "tool_result":
            yield {
                "role": "tool",
                "tool_call_id": str(block.get("tool_use_id", "")),
                "content": _result(block.get("content")),
            }
    said = [_part(block) for block in blocks if block.get("type") not in ("tool_result", "tool_use")]
    calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
    if said or calls:
        yield {"role": role, "content": said or None, **({"tool_calls": calls} if calls else {})}


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "text":
        kept = {"type": "text", "text": str(block.get("text", ""))}
        return kept | ({"cache_control": {"type": "ephemeral"}} if block.get("cache_control") else {})
    demand(block.get("type") == "image", "messages.content", f"{block.get('type')} is not allowed here")
    source = block.get("source")
    inline = isinstance(source, dict) and source.get("type") == "base64"
    demand(inline, "messages.content.source", "must be base64 data")
    assert isinstance(source, dict)
    return {"type": "image_url", "image_url": {"url": f"data:{source.get('media_type')};base64,{source.get('data')}"}}


def _text(value: Any, field: str) -> str | list[dict[str, Any]]:
    if isinstance(value, str):
        return value
    plain = isinstance(value, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in value)
    demand(plain, field, "must be text")
    return [_part(part) for part in value]


def _result(content: Any) -> str:
    """Return a tool's result as text; a picture in it is left out, since not every provider takes it there."""
    if content is None or isinstance(content, str):
        return content or ""
    demand(isinstance(content, list), "messages.content.tool_result", "must be text or a list")
    parts = [part for part in content if isinstance(part, dict)]
    return "\n".join(str(part.get("text", f"[{part.get('type')} left out]")) for part in parts)


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    named = {"name": str(block.get("name", "")), "arguments": json.dumps(block.get("input") or {})}
    return {"id": str(block.get("id", "")), "type": "function", "function": named}


def _tool(tool: Any) -> dict[str, Any]:
    # Hosted tools have a type of their own and run at the provider, outside the sandbox.
    own = isinstance(tool, dict) and tool.get("type") in (None, "custom") and isinstance(tool.get("input_schema"), dict)
    demand(own, "tools", "only tools of the client's own are allowed")
    function = {"name": tool.get("name"), "description": tool.get("description"), "parameters": tool["input_schema"]}
    return {"type": "function", "function": {key: value for key, value in function.items() if value is not None}}


def _choice(choice: Any) -> dict[str, Any]:
    if choice is None:
        return {}
    demand(isinstance(choice, dict) and choice.get("type") in {*CHOICES, "tool"}, "tool_choice", "is not known")
    named = {"type": "function", "function": {"name": str(choice.get("name"))}}
    chosen = {"tool_choice": CHOICES.get(choice["type"], named)}
    return chosen | ({"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") is True else {})


def whole(reply: Reply) -> dict[str, Any]:
    return {**_head(reply), "content": list(_blocks(reply)), "stop_reason": _stop_reason(reply), "usage": _usage(reply)}


def events(reply: Reply, asked: ChatRequest) -> Iterator[bytes]:
    """Yield the events of a stream, block by block."""
    yield named_event("message_start", {"message": {**_head(reply), "content": [], "usage": _usage(reply)}})
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield named_event("content_block_start", {"index": index, "content_block": empty})
        yield named_event("content_block_delta", {"index": index, "delta": delta})
        yield named_event("content_block_stop", {"index": index})
    ending = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
    yield named_event("message_delta", {"delta": ending, "usage": _usage(reply)})
    yield named_event("message_stop", {})


def problem(message: str, code: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": code, "message": message}}


def _head(reply: Reply) -> dict[str, Any]:
    said = {"id": f"msg_{reply.step}", "type": "message", "role": "assistant", "model": MODEL}
    return {**said, "stop_reason": None, "stop_sequence": None}


def _blocks(reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.text or not reply.calls:
        yield {"type": "text", "text": reply.text}
    for call in reply.calls:
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": _arguments(call.arguments)}


def _arguments(text: str) -> Any:
    """Return a call's arguments as an object, which this form demands even of a model that wrote broken JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"unreadable": text}


def _stop_reason(reply: Reply) -> str:
    return STOPPED.get(reply.finish, "tool_use" if reply.calls else "end_turn")


def _usage(reply: Reply) -> dict[str, int]:
    usage = reply.usage
    return {
        "input_tokens": max(0, usage.prompt_tokens - usage.cached_tokens),
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": usage.completion_tokens,
    }


MESSAGES = Dialect(
    read=read_messages,
    whole=whole,
    events=events,
    problem=problem,
    broken=lambda told: named_event("error", told),
    alive=named_event("ping", {}),
)
