"""Anthropic's Messages and OpenAI's Responses at the gateway: what is read, what is refused, how it is answered."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mldevbench.model.gateway import messages, responses
from mldevbench.model.gateway.request import Forbidden
from mldevbench.model.reply import Reply, ToolCall
from mldevbench.records import Usage

MESSAGE: dict[str, Any] = {"model": "benchmark", "max_tokens": 99, "messages": [{"role": "user", "content": "hi"}]}
RESPONSE: dict[str, Any] = {"model": "benchmark", "input": "hi"}
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
SPENT = Usage(prompt_tokens=70, completion_tokens=9, cached_tokens=20, reasoning_tokens=3)
CALLS = (ToolCall("c0", "shell", '{"command": "ls"}'),)
REPLY = Reply(1, "I look.", CALLS, None, "tool_calls", SPENT, {})


def test_a_tool_using_turn_of_messages_is_read() -> None:
    asked = messages.read_messages(
        {
            **MESSAGE,
            "system": [{"type": "text", "text": "be good", "cache_control": {"type": "ephemeral"}}],
            "tools": [{"name": "shell", "description": "runs", "input_schema": SCHEMA}],
            "tool_choice": {"type": "any", "disable_parallel_tool_use": True},
            "metadata": {"user_id": "x"},
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "stream": True,
            "messages": [
                {"role": "user", "content": "hi"},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm", "signature": "s"},
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "c0", "name": "shell", "input": {"command": "ls"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "c0", "content": [{"type": "text", "text": "a.py"}]},
                        {"type": "text", "text": "go on"},
                    ],
                },
            ],
        }
    )
    assert [message["role"] for message in asked.messages] == ["system", "user", "assistant", "tool", "user"]
    assert asked.messages[2]["tool_calls"][0]["function"] == {"name": "shell", "arguments": '{"command": "ls"}'}
    assert asked.messages[3] == {"role": "tool", "tool_call_id": "c0", "content": "a.py"}
    assert asked.tools and asked.tools[0]["function"]["parameters"] == SCHEMA
    assert asked.sampling == {"max_tokens": 99, "tool_choice": "required", "parallel_tool_calls": False}
    assert asked.stream


def test_a_tool_using_turn_of_responses_is_read() -> None:
    asked = responses.read_responses(
        {
            **RESPONSE,
            "instructions": "be good",
            "store": False,
            "reasoning": {"effort": "low", "summary": "auto"},
            "max_output_tokens": 50,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": "x",
            "tools": [{"type": "function", "name": "shell", "parameters": SCHEMA, "strict": False}],
            "tool_choice": "auto",
            "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
                {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "…"},
                {"type": "function_call", "call_id": "c0", "name": "shell", "arguments": "{}"},
                {"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c0", "output": "a.py"},
            ],
        }
    )
    assert [message["role"] for message in asked.messages] == ["system", "user", "assistant", "tool"]
    assert [call["id"] for call in asked.messages[2]["tool_calls"]] == ["c0", "c1"]
    assert asked.sampling == {"max_completion_tokens": 50, "reasoning_effort": "low", "tool_choice": "auto"}


ALIKE = ("api_base", "api_key", "mock_response", "input_cost_per_token", "no-log", "litellm_metadata", "fallbacks")


@pytest.mark.parametrize("field", ALIKE)
def test_what_litellm_would_obey_is_refused_in_every_form(field: str) -> None:
    for read, plain in ((messages.read_messages, MESSAGE), (responses.read_responses, RESPONSE)):
        with pytest.raises(Forbidden) as caught:
            read({**plain, field: "x"})
        assert caught.value.field == field


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "claude-opus-4"},
        {"tools": [{"type": "web_search_20250305", "name": "web_search"}]},
        {"tools": [{"type": "code_execution_20250522", "name": "x", "input_schema": {}}]},
        {"mcp_servers": [{"url": "http://x"}]},
        {"container": "x"},
        {"service_tier": "auto"},
        {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "http://x"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "document", "source": {"type": "url", "url": "x"}}]}]},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"messages": "hi"},
        {"tool_choice": {"type": "odd"}, "tools": [{"name": "a", "input_schema": {}}]},
    ],
)
def test_messages_that_reach_outside_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(Forbidden):
        messages.read_messages({**MESSAGE, **changed})


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "gpt-5"},
        {"previous_response_id": "resp_1"},
        {"store": True},
        {"background": True},
        {"conversation": "x"},
        {"tools": [{"type": "web_search"}]},
        {"tools": [{"type": "mcp", "server_url": "http://x"}]},
        {"tools": [{"type": "code_interpreter"}]},
        {"input": [{"type": "item_reference", "id": "x"}]},
        {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "http://x"}]}]},
        {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "http://x"}]}]},
    ],
)
def test_responses_that_reach_outside_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(Forbidden):
        responses.read_responses({**RESPONSE, **changed})


def events_of(pieces: Any) -> list[dict[str, Any]]:
    return [json.loads(piece.decode().split("data: ", 1)[1]) for piece in pieces]


def test_replies_are_told_as_messages_whole_and_streamed() -> None:
    told = messages.whole(REPLY)
    assert [block["type"] for block in told["content"]] == ["text", "tool_use"] and told["stop_reason"] == "tool_use"
    assert told["usage"] == {
        "input_tokens": 50, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 0, "output_tokens": 9,
    }  # fmt: skip
    seen = events_of(messages.events(REPLY, messages.read_messages(MESSAGE)))
    assert [event["type"] for event in seen] == [
        "message_start",
        *["content_block_start", "content_block_delta", "content_block_stop"] * 2,
        "message_delta",
        "message_stop",
    ]
    assert json.loads(seen[5]["delta"]["partial_json"]) == {"command": "ls"}
    broken = Reply(1, "", (ToolCall("c", "shell", "{broken"),), None, "tool_calls", SPENT, {})
    assert messages.whole(broken)["content"][0]["input"] == {"unreadable": "{broken"}


def test_replies_are_told_as_responses_whole_and_streamed() -> None:
    told = responses.whole(REPLY)
    assert [item["type"] for item in told["output"]] == ["message", "function_call"]
    assert told["usage"]["total_tokens"] == 79 and told["status"] == "completed"
    seen = events_of(responses.events(REPLY, responses.read_responses(RESPONSE)))
    assert [event["sequence_number"] for event in seen] == list(range(len(seen)))
    assert seen[0]["type"] == "response.created" and seen[-1]["type"] == "response.completed"
    assert seen[-1]["response"]["output"] == told["output"]
    done = [event["item"]["type"] for event in seen if event["type"] == "response.output_item.done"]
    assert done == ["message", "function_call"]
    cut = Reply(1, "half", (), None, "length", SPENT, {})
    assert responses.whole(cut)["status"] == "incomplete" and messages.whole(cut)["stop_reason"] == "max_tokens"
