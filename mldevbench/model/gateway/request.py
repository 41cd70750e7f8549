"""What a client inside may ask for: an allow-list of fields, since litellm obeys many others in a request.

Model, address, key, prices, headers and callbacks come from the run's spec and are never read from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MODEL = "benchmark"  # the one model that a client may name
SAMPLING: dict[str, Any] = {
    "temperature": (int, float),
    "top_p": (int, float),
    "max_tokens": int,
    "max_completion_tokens": int,
    "presence_penalty": (int, float),
    "frequency_penalty": (int, float),
    "seed": int,
    "stop": (str, list),
    "tool_choice": (str, dict),
    "parallel_tool_calls": bool,
    "reasoning_effort": str,
    "response_format": dict,
}
OTHERS = {"model", "messages", "tools", "stream", "stream_options", "n", "user"}
DROPPED = {"prompt_cache_key", "prompt_cache_retention"}  # where a provider may keep what; it knows by itself
MESSAGE_FIELDS = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "reasoning_content"}
# What clients send back of an answer without having been given it; it is dropped.
ECHOED = {"annotations", "audio", "function_call", "images", "provider_specific_fields", "thinking_blocks"}
ROLES = {"system", "developer", "user", "assistant", "tool"}
FORMATS = {"text", "json_object", "json_schema"}


class Forbidden(Exception):
    """A request that is not passed on."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field


@dataclass(frozen=True)
class ChatRequest:
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] | None
    sampling: Mapping[str, Any]
    stream: bool
    include_usage: bool


def read_chat(body: Any) -> ChatRequest:
    """Build a request from what is allowed, or refuse all of it."""
    demand(isinstance(body, dict), "body", "must be an object")
    for field in body:
        demand(field in {*SAMPLING, *OTHERS, *DROPPED}, field, "is not allowed here")
    demand(body.get("model") in (MODEL, f"openai/{MODEL}"), "model", f"there is only {MODEL!r}")
    demand(body.get("n") in (None, 1), "n", "must be 1")
    options = body.get("stream_options") or {}
    demand(isinstance(options, dict) and set(options) <= {"include_usage"}, "stream_options", "is not allowed")
    return ChatRequest(
        messages=_messages(body.get("messages")),
        tools=_tools(body.get("tools")),
        sampling={field: _sampled(field, body[field]) for field in SAMPLING if body.get(field) is not None},
        stream=body.get("stream") is True,
        include_usage=options.get("include_usage") is True,
    )


def demand(condition: bool, field: str, why: str) -> None:
    """Refuse a request unless the condition holds."""
    if not condition:
        raise Forbidden(field, why)


def _sampled(field: str, value: Any) -> Any:
    kinds = SAMPLING[field]
    flag_for_number = kinds is not bool and type(value) is bool
    if flag_for_number or not isinstance(value, kinds):
        raise Forbidden(field, "has the wrong type")
    if field == "response_format":
        _demand_format(value)
    if field in ("max_tokens", "max_completion_tokens"):
        demand(value > 0, field, "must be positive")
    return value


def _demand_format(value: Any) -> None:
    known = value.get("type") in FORMATS and set(value) <= {"type", "json_schema"}
    demand(known, "response_format", f"must be one of {sorted(FORMATS)}")


def _messages(messages: Any) -> list[dict[str, Any]]:
    demand(isinstance(messages, list) and bool(messages), "messages", "must be a list with something in it")
    return [_message(message) for message in messages]


def _message(message: Any) -> dict[str, Any]:
    demand(isinstance(message, dict) and message.get("role") in ROLES, "messages", "one has no known role")
    echoed = ECHOED if message["role"] == "assistant" else set()
    for field in message:
        demand(field in MESSAGE_FIELDS | echoed, f"messages.{field}", "is not allowed here")
    content = message.get("content")
    if isinstance(content, list):
        content = [_part(part) for part in content]
    else:
        demand(content is None or isinstance(content, str), "messages.content", "must be text or a list")
    kept = {field: message[field] for field in ("role", "name", "tool_call_id") if message.get(field) is not None}
    if message.get("tool_calls"):
        kept["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    return {**kept, "content": content}


def _part(part: Any) -> dict[str, Any]:
    demand(isinstance(part, dict), "messages.content", "a part must be an object")
    if part.get("type") == "text":
        kept = {"type": "text", "text": str(part.get("text", ""))}
        return kept | ({"cache_control": {"type": "ephemeral"}} if part.get("cache_control") else {})
    demand(part.get("type") == "image_url", "messages.content", "only text and image_url parts are allowed")
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    demand(isinstance(url, str) and url.startswith("data:image/"), "messages.content.image_url", "must be a data: URL")
    return {"type": "image_url", "image_url": {"url": url}}


def _call(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    demand(isinstance(function, dict), "messages.tool_calls", "each must be a function call")
    assert isinstance(function, dict)
    named = {"name": str(function.get("name", "")), "arguments": str(function.get("arguments", ""))}
    return {"id": str(call.get("id", "")), "type": "function", "function": named}


def _tools(tools: Any) -> list[dict[str, Any]] | None:
    if tools is None:
        return None
    demand(isinstance(tools, list), "tools", "must be a list")
    return [_tool(tool) for tool in tools] or None


def _tool(tool: Any) -> dict[str, Any]:
    # Hosted tools would search, fetch or run code at the provider, outside the sandbox.
    plain = isinstance(tool, dict) and tool.get("type") == "function" and set(tool) <= {"type", "function"}
    demand(plain, "tools", "only functions of the client's own are allowed")
    function = tool["function"] if isinstance(tool.get("function"), dict) else {}
    known = {"name", "description", "parameters", "strict"}
    demand(bool(function.get("name")) and set(function) <= known, "tools.function", "has unknown fields")
    return {"type": "function", "function": dict(function)}
