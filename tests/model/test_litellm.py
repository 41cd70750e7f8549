"""Real litellm against a server on loopback: what it counts must be what the server says it served."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from model.server import Answer, Behaviour, Cut, Garbage, Hang, ModelServer, Refusal

from mldevbench.errors import Fault
from mldevbench.model.budget import BudgetExhausted, BudgetMeter, RequestRefused
from mldevbench.model.door import Model, ModelSpec, StudyStopper
from mldevbench.model.loop import wait_for
from mldevbench.model.price import Price
from mldevbench.model.replay import script_of
from mldevbench.model.secrets import Scrubber
from mldevbench.records import Budget, Step, StopReason
from mldevbench.store.place import open_place
from mldevbench.trajectory import Trajectory, stored_steps

pytestmark = pytest.mark.slow

KEY = "sk-planted-in-a-test-0123456789"
PRICE = Price(2.5, 10, 1.25)
MESSAGES = [{"role": "user", "content": "hello"}]
TOOLS = [{"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {}}}}]


def spec_of(server: ModelServer, **changed: Any) -> ModelSpec:
    given: dict[str, Any] = {"price": PRICE, "timeout_seconds": 30.0, "patience_seconds": 15.0, **changed}
    return ModelSpec("openai/tested", api_base=server.base, key=KEY, **given)


def model_of(spec: ModelSpec, budget: Budget | None = None) -> tuple[Model, list[Step]]:
    steps: list[Step] = []
    return Model(spec, budget=BudgetMeter(budget or Budget(), spec.price), record=steps.append, seed=3), steps


def assert_equal_to_the_server(model: Model, server: ModelServer) -> None:
    usage, tally = model.usage, server.tally
    assert (usage.steps, usage.prompt_tokens, usage.completion_tokens) == (tally.served, tally.prompt, tally.completion)
    assert (usage.cached_tokens, usage.reasoning_tokens) == (tally.cached, tally.reasoning)
    assert usage.cost_usd == pytest.approx(PRICE.of(usage), rel=1e-12)


FAULTS: list[Behaviour] = [
    Refusal(429, retry_after="0.2"),
    Refusal(500),
    Garbage(),
    Garbage("{}"),
    Garbage("<html>busy</html>"),
    Cut(),
    Cut(politely=True),
    Refusal(503),
]


@pytest.mark.parametrize("stream", [False, True])
def test_all_that_was_served_is_counted_once(stream: bool) -> None:
    answer = Answer("ok", (("shell", '{"a": 1}'),), prompt=120, completion=40, cached=100, reasoning=7, thought="hm")
    behaviours = [behaviour for fault in FAULTS for behaviour in (fault, answer)]
    with ModelServer(behaviours) as server:
        model, steps = model_of(spec_of(server))
        for _ in FAULTS:
            reply = wait_for(model.acomplete(MESSAGES, tools=TOOLS, stream=stream, temperature=0.2))
            assert (reply.text, reply.reasoning) == ("ok", "hm")
            assert [(call.name, call.arguments) for call in reply.calls] == [("shell", '{"a": 1}')]
        assert_equal_to_the_server(model, server)
        assert server.tally.requests == 2 * len(FAULTS)
        assert server.tally.bodies[0]["seed"] == 3 and server.tally.bodies[0]["temperature"] == 0.2
    about = json.loads(steps[0].arguments or "")
    assert (about["tries"], about["fingerprint"], about["served"], about["flags"]) == (2, "fp_test", "tested-2026", [])
    assert about["sampling"] == {"seed": 3, "temperature": 0.2}
    assert steps[0].usage.cached_tokens == 100


def test_a_hanging_server_is_asked_again() -> None:
    with ModelServer([Answer(), Hang(), Answer()]) as server:
        model, _ = model_of(spec_of(server, timeout_seconds=3.0))
        assert [model.complete(MESSAGES).text for _ in range(2)] == ["done", "done"]
        assert_equal_to_the_server(model, server)


def test_one_connection_serves_all_calls_however_little_time_is_left() -> None:
    with ModelServer() as server:
        model, _ = model_of(spec_of(server, timeout_seconds=600.0), Budget(minutes=5))
        for _ in range(5):
            model.complete(MESSAGES)
        assert (server.tally.served, len(server.tally.callers)) == (5, 1)


def test_forty_calls_at_once_are_told_apart() -> None:
    def sized(number: int, body: Mapping[str, Any]) -> Answer:
        size = int(body["messages"][0]["content"])
        return Answer(prompt=size, completion=size + 1)

    with ModelServer(sized) as server:
        models = [model_of(spec_of(server)) for _ in range(4)]

        async def crowd() -> None:
            calls = [
                model.acomplete([{"role": "user", "content": str(100 * index + call)}], stream=bool(call % 2))
                for index, (model, _) in enumerate(models)
                for call in range(10)
            ]
            await asyncio.gather(*calls)

        wait_for(crowd())
        for index, (model, _) in enumerate(models):
            assert model.usage.prompt_tokens == sum(100 * index + call for call in range(10))


def test_fifty_calls_at_once_never_pass_a_budget_for_five() -> None:
    with ModelServer(lambda number, body: Answer(prompt=30, completion=20, delay=0.02)) as server:
        model, _ = model_of(spec_of(server), Budget(tokens=5 * 120))

        async def crowd() -> list[Any]:
            calls = (model.acomplete(MESSAGES, max_tokens=20, stream=bool(number % 2)) for number in range(50))
            return await asyncio.gather(*calls, return_exceptions=True)

        results = wait_for(crowd())
        refused = [result for result in results if isinstance(result, Exception)]
        assert refused and all(isinstance(error, BudgetExhausted) for error in refused)
        assert {error.stop_reason for error in refused if isinstance(error, BudgetExhausted)} == {StopReason.TOKENS}
        assert_equal_to_the_server(model, server)
        assert server.tally.prompt + server.tally.completion <= 5 * 120


@pytest.mark.parametrize(
    ("refusal", "cls", "words"),
    [
        (Refusal(401, f"Incorrect API key: {KEY}"), StudyStopper, "check the key"),
        (Refusal(429, "You exceeded your current quota", "insufficient_quota"), StudyStopper, "quota"),
        (Refusal(400, "maximum context length is 10", "context_length_exceeded"), RequestRefused, "context"),
        (Refusal(400, f"bad request of {KEY}"), RequestRefused, "request"),
    ],
)
def test_whose_fault_it_is(refusal: Refusal, cls: type[Exception], words: str) -> None:
    with ModelServer([refusal] * 3) as server:
        model, _ = model_of(spec_of(server))
        with pytest.raises(cls, match=words) as caught:
            model.complete(MESSAGES)
        assert KEY not in str(caught.value)
        assert server.tally.requests == 1 and KEY in server.tally.keys


@pytest.mark.parametrize(("status", "words"), [(403, "check the key"), (404, "check the name")])
def test_a_study_is_stopped_only_if_a_plain_request_is_denied_too(status: int, words: str) -> None:
    with ModelServer([Refusal(status)] * 3) as server:
        with pytest.raises(StudyStopper, match=words):
            model_of(spec_of(server))[0].complete(MESSAGES)
        assert server.tally.requests == 2
    with ModelServer([Refusal(status, "your input was flagged")]) as server:
        model, _ = model_of(spec_of(server))
        with pytest.raises(RequestRefused, match="your input was flagged"):
            model.complete(MESSAGES)
        assert server.tally.requests == 2 and model.usage.total_tokens == 0


def test_a_total_outage_is_a_fault() -> None:
    with ModelServer() as server:
        spec = spec_of(server, patience_seconds=1.0)
    model, _ = model_of(spec)
    with pytest.raises(Fault, match="provider_error"):
        model.complete(MESSAGES)
    assert model.usage.total_tokens == 0


def test_prices_of_litellms_list_are_its_own_business() -> None:
    with ModelServer(lambda number, body: Answer(prompt=1000, completion=100, cached=400)) as server:
        listed = ModelSpec("openai/gpt-4o", api_base=server.base, key=KEY, price=Price(2.5, 10, 1.25, listed=True))
        unpriced = ModelSpec("openai/unlisted", api_base=server.base, key=KEY)
        for spec, cost in ((listed, (600 * 2.5 + 400 * 1.25 + 100 * 10) / 1e6), (unpriced, None)):
            model, _ = model_of(spec)
            model.complete(MESSAGES)
            assert model.usage.cost_usd == (None if cost is None else pytest.approx(cost))


def test_reasoning_models_get_no_temperature() -> None:
    with ModelServer() as server:
        spec = ModelSpec("openai/o3-mini", api_base=server.base, key=KEY)
        model, _ = model_of(spec)
        model.complete(MESSAGES, temperature=0.3, max_tokens=50)
        assert "temperature" not in server.tally.bodies[0]
        assert server.tally.bodies[0]["max_completion_tokens"] == 50


SCRIPT = """
turns:
  - {error: {status: 429, retry_after: 0.1}}
  - {text: look, reasoning: why, calls: [{shell: {command: ls}}], usage: {prompt: 10, completion: 3, reasoning: 1}}
  - {error: {status: 500}}
  - {text: bye, delay: 0.05, usage: {prompt: 20, completion: 2}}
"""


def test_scripted_models_take_the_same_way_and_can_be_replayed(tmp_path: Path) -> None:
    place = open_place(str(tmp_path / "store")).child("attempt")
    spec = ModelSpec("scripted/x.yaml", script=SCRIPT, price=PRICE)
    with Trajectory(tmp_path / "t.jsonl", place, scrub=Scrubber([KEY])) as trajectory:
        model = Model(spec, budget=BudgetMeter(Budget(), PRICE), record=trajectory.record)
        replies = [model.complete(MESSAGES, tools=TOOLS) for _ in range(2)]
        model.close()
    assert [reply.text for reply in replies] == ["look", "bye"]
    assert (replies[0].reasoning, replies[0].calls[0].arguments) == ("why", '{"command": "ls"}')
    assert (model.usage.prompt_tokens, model.usage.completion_tokens, model.usage.reasoning_tokens) == (30, 5, 1)

    again = ModelSpec("replay/study", script=script_of(stored_steps(place)), price=PRICE)
    replayed, _ = model_of(again)
    twice = [replayed.complete(MESSAGES, tools=TOOLS) for _ in range(2)]
    assert [reply.text for reply in twice] == ["look", "bye"]
    assert [(call.name, call.arguments) for call in twice[0].calls] == [("shell", '{"command": "ls"}')]
    assert replayed.usage.cost_usd == model.usage.cost_usd


@pytest.mark.parametrize(("status", "cls"), [(401, StudyStopper), (400, RequestRefused), (408, Fault), (503, Fault)])
def test_scripted_errors_mean_what_a_providers_mean(status: int, cls: type[Exception]) -> None:
    script = f"turns: [{{error: {{status: {status}}}}}]\nthen: repeat\n"
    model, _ = model_of(ModelSpec("scripted/x", script=script, patience_seconds=0.1))
    with pytest.raises(cls):
        model.complete(MESSAGES)
