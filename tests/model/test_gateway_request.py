from __future__ import annotations

from typing import Any

import pytest

from mldevbench.model.gateway.request import Forbidden, read_chat

PLAIN: dict[str, Any] = {"model": "benchmark", "messages": [{"role": "user", "content": "hi"}]}
FUNCTION = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

FORBIDDEN: dict[str, Any] = {
    "api_base": "http://127.0.0.1:1",
    "base_url": "http://127.0.0.1:1",
    "api_key": "x",
    "input_cost_per_token": 0,
    "output_cost_per_token": 0,
    "no-log": True,
    "mock_response": "forged",
    "mock_tool_calls": [],
    "metadata": {"mldevbench_call": "x"},
    "litellm_metadata": {},
    "extra_headers": {"a": "b"},
    "headers": {},
    "extra_body": {},
    "callbacks": [],
    "success_callback": [],
    "custom_llm_provider": "openai",
    "model_list": [],
    "fallbacks": ["scripted/x"],
    "num_retries": 5,
    "timeout": 1,
    "caching": True,
    "cache": {"no-cache": True},
    "web_search_options": {},
    "functions": [],
    "logit_bias": {},
    "service_tier": "priority",
    "prompt_id": "x",
    "guardrails": [],
    "store": True,
    "audio": {},
    "modalities": ["audio"],
    "client": "x",
    "drop_params": False,
    "vertex_credentials": "x",
    "aws_access_key_id": "x",
}


@pytest.mark.parametrize("field", FORBIDDEN)
def test_each_forbidden_field_is_refused(field: str) -> None:
    with pytest.raises(Forbidden) as caught:
        read_chat({**PLAIN, field: FORBIDDEN[field]})
    assert caught.value.field == field


@pytest.mark.parametrize(
    "changed",
    [
        {"model": "openai/gpt-4o"},
        {"model": "scripted/x.yaml"},
        {"model": "replay/study"},
        {"model": None},
        {"n": 5},
        {"messages": []},
        {"messages": "hi"},
        {"messages": [{"role": "hacker", "content": "x"}]},
        {"messages": [{"role": "user", "content": "x", "api_base": "y"}]},
        {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "x"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y.png"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "file:///etc/passwd"}]}]},
        {"tools": [{"type": "web_search_preview"}]},
        {"tools": [{"type": "code_interpreter", "container": {}}]},
        {"tools": [{"type": "computer_20241022", "function": {"name": "x"}}]},
        {"tools": [{**FUNCTION, "api_base": "x"}]},
        {"response_format": {"type": "python"}},
        {"temperature": "hot"},
        {"temperature": True},
        {"max_tokens": -1},
        {"stream_options": {"include_usage": True, "other": 1}},
    ],
)
def test_what_is_not_plain_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(Forbidden):
        read_chat({**PLAIN, **changed})


@pytest.mark.parametrize("body", [None, [], "x", 3])
def test_a_body_that_is_no_object(body: Any) -> None:
    with pytest.raises(Forbidden):
        read_chat(body)


def test_what_is_allowed_arrives() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "system", "content": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]},
        {"role": "user", "content": [image]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "done", "tool_call_id": "c"},
    ]
    asked = read_chat(
        {
            "model": "openai/benchmark",
            "messages": messages,
            "tools": [FUNCTION],
            "tool_choice": "auto",
            "temperature": 0,
            "seed": 3,
            "max_tokens": 9,
            "stream": True,
            "stream_options": {"include_usage": True},
            "response_format": {"type": "json_object"},
            "user": "dropped",
        }
    )
    assert list(asked.messages) == messages and asked.tools == [FUNCTION]
    assert set(asked.sampling) == {"tool_choice", "temperature", "seed", "max_tokens", "response_format"}
    assert asked.stream and asked.include_usage
