"""OpenAI's Responses: read by an allow-list of its own into our one form of request, and answered in its words."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from mldevbench.model.gateway import answer
from mldevbench.model.gateway.dialect import Dialect, named_event
from mldevbench.model.gateway.request import MODEL, ChatRequest, demand, read_chat
from mldevbench.model.reply import Reply

SAMPLING = {"temperature": "temperature", "top_p": "top_p", "max_output_tokens": "max_completion_tokens"}
READ = {*SAMPLING, "model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "stream", "text"}
READ |= {"reasoning", "store"}
# What only says how to account, cache or show; nothing of it is passed on.
DROPPED = {"include", "prompt_cache_key", "prompt_cache_retention", "metadata", "user", "truncation", "stream_options"}
DROPPED |= {"client_metadata", "safety_identifier"}
SPOKEN = {"input_text", "output_text", "text"}


def read_responses(body: Any) -> ChatRequest:
    """Put a request into the form of chat completions, whose own allow-list then decides."""
    demand(isinstance(body, dict), "body", "must be an object")
    for field in body:
        demand(field in READ or field in DROPPED, field, "is not allowed here")
    demand(body.get("store") in (None, False), "store", "nothing is kept here; send the whole conversation")
    messages = [{"role": "system", "content": str(body["instructions"])}] if body.get("instructions") else []
    given = body.get("input")
    if isinstance(given, str):
        messages.append({"role": "user", "content": given})
    else:
        demand(isinstance(given, list), "input", "must be text or a list")
        for item in given:
            _add(item, messages)
    chat: dict[str, Any] = {"model": body.get("model"), "messages": messages, "stream": body.get("stream") is True}
    chat |= {name: body[field] for field, name in SAMPLING.items() if body.get(field) is not None}
    effort = (body.get("reasoning") or {}).get("effort")
    chat |= {"reasoning_effort": effort} if effort else {}
    chat |= _format(body.get("text"))
    if body.get("tools"):
        chat["tools"] = [_tool(tool) for tool in body["tools"]]
        chat |= {"parallel_tool_calls": body["parallel_tool_calls"]} if body.get("parallel_tool_calls") else {}
        chat |= _choice(body.get("tool_choice"))
    return read_chat(chat)


def _add(item: Any, messages: list[dict[str, Any]]) -> None:
    """Append one item; calls that follow one another belong to one message there."""
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "message":
        messages.append({"role": item.get("role"), "content": _content(item.get("content"))})
    elif kind == "function_call":
        named = {"name": str(item.get("name", "")), "arguments": str(item.get("arguments", ""))}
        call = {"id": str(item.get("call_id", "")), "type": "function", "function": named}
        if messages and messages[-1]["role"] == "assistant":
            messages[-1].setdefault("tool_calls", []).append(call)
        else:
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
    elif kind == "function_call_output":
        messages.append(
            {"role": "tool", "tool_call_id": str(item.get("call_id", "")), "content": _output(item.get("output"))}
        )
    else:
        demand(kind == "reasoning", "input", f"items of type {kind} are not allowed here")


def _content(content: Any) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    demand(isinstance(content, list), "input.content", "must be text or a list")
    return [_part(part) for part in content]


def _part(part: Any) -> dict[str, Any]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in SPOKEN:
        return {"type": "text", "text": str(part.get("text", ""))}
    demand(kind == "input_image", "input.content", f"parts of type {kind} are not allowed here")
    return {"type": "image_url", "image_url": {"url": part.get("image_url")}}


def _output(output: Any) -> str:
    if isinstance(output, str):
        return output
    demand(isinstance(output, list), "input.output", "must be text or a list")
    return "\n".join(str(part.get("text", "")) for part in output if isinstance(part, dict))


def _tool(tool: Any) -> dict[str, Any]:
    # Hosted tools have a type of their own and run at the provider, outside the sandbox.
    demand(isinstance(tool, dict) and tool.get("type") == "function", "tools", "only functions are allowed")
    kept = ("name", "description", "parameters", "strict")
    return {"type": "function", "function": {key: tool[key] for key in kept if tool.get(key) is not None}}


def _choice(choice: Any) -> dict[str, Any]:
    if choice is None or isinstance(choice, str):
        return {} if choice is None else {"tool_choice": choice}
    known = isinstance(choice, dict) and choice.get("type") == "function"
    demand(known, "tool_choice", "is not known")
    return {"tool_choice": {"type": "function", "function": {"name": str(choice.get("name"))}}}


def _format(text: Any) -> dict[str, Any]:
    wanted = text.get("format") if isinstance(text, dict) else None
    if not isinstance(wanted, dict) or wanted.get("type") in (None, "text"):
        return {}
    if wanted["type"] != "json_schema":
        return {"response_format": {"type": wanted["type"]}}
    schema = {key: value for key, value in wanted.items() if key in ("name", "description", "schema", "strict")}
    return {"response_format": {"type": "json_schema", "json_schema": schema}}


def whole(reply: Reply) -> dict[str, Any]:
    return _response(reply, "incomplete" if reply.finish == "length" else "completed", list(_items(reply)))


def events(reply: Reply, asked: ChatRequest) -> Iterator[bytes]:
    """Yield the numbered events of a stream, item by item."""
    for number, (name, value) in enumerate(_events(reply)):
        yield named_event(name, {"sequence_number": number, **value})


def _events(reply: Reply) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = _response(reply, "in_progress", [])
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    for index, item in enumerate(_items(reply)):
        place = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            part = item["content"][0]
            spot = {**place, "content_index": 0}
            yield "response.output_item.added", {**place, "item": {**item, "status": "in_progress", "content": []}}
            yield "response.content_part.added", {**spot, "part": {**part, "text": ""}}
            yield "response.output_text.delta", {**spot, "delta": part["text"], "logprobs": []}
            yield "response.output_text.done", {**spot, "text": part["text"], "logprobs": []}
            yield "response.content_part.done", {**spot, "part": part}
        else:
            yield "response.output_item.added", {**place, "item": {**item, "status": "in_progress", "arguments": ""}}
            yield "response.function_call_arguments.delta", {**place, "delta": item["arguments"]}
            yield "response.function_call_arguments.done", {**place, "arguments": item["arguments"]}
        yield "response.output_item.done", {**place, "item": item}
    ended = whole(reply)
    yield f"response.{ended['status']}", {"response": ended}


def _items(reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.text or not reply.calls:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        yield {
            "id": f"msg_{reply.step}", "type": "message", "role": "assistant", "status": "completed", "content": [part],
        }  # fmt: skip
    for index, call in enumerate(reply.calls):
        yield {
            "id": f"fc_{reply.step}_{index}", "type": "function_call", "status": "completed", "call_id": call.id,
            "name": call.name, "arguments": call.arguments,
        }  # fmt: skip


def _response(reply: Reply, status: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    over = status != "in_progress"
    return {
        "id": f"resp_{reply.step}", "object": "response", "created_at": int(time.time()), "model": MODEL,
        "status": status, "output": items, "error": None, "instructions": None, "metadata": {}, "tools": [],
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "parallel_tool_calls": True, "tool_choice": "auto", "usage": _usage(reply) if over else None,
    }  # fmt: skip


def _usage(reply: Reply) -> Mapping[str, Any]:
    usage = reply.usage
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens,
    }


RESPONSES = Dialect(
    read=read_responses,
    whole=whole,
    events=events,
    problem=answer.problem,
    broken=lambda told: named_event("error", {"sequence_number": 0, **told["error"]}),
)
