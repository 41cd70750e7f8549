"""The door's own logic, with a provider that a test plays; what litellm does is in test_litellm.py."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from mldevbench.errors import Fault
from mldevbench.model.budget import AgentStopped, BudgetExhausted, BudgetMeter, RequestRefused
from mldevbench.model.door import Model, ModelSpec, StudyStopper
from mldevbench.model.loop import wait_for
from mldevbench.model.price import Price
from mldevbench.model.upstream import Answer, Request
from mldevbench.records import Budget, Step, StopReason, Usage

PRICE = Price(1, 10)
MESSAGES = [{"role": "user", "content": "hello"}]


class Refused(Exception):
    def __init__(self, status: int, retry_after: float | None = None) -> None:
        super().__init__(f"status {status}")
        self.status_code = status
        self.litellm_response_headers = {} if retry_after is None else {"retry-after": str(retry_after)}


def answer(text: str = "hi", prompt: int = 10, completion: int = 5) -> Answer:
    usage = Usage(steps=1, prompt_tokens=prompt, completion_tokens=completion, model_served="m-1")
    priced = Usage(**{**usage.__dict__, "cost_usd": PRICE.of(usage)})
    message = {"role": "assistant", "content": text}
    return Answer({"choices": [{"message": message, "finish_reason": "stop"}]}, priced)


class Played:
    """Answers in turn: an answer, an exception, or seconds of silence before an answer."""

    def __init__(self, turns: Sequence[Answer | Exception | float] = ()) -> None:
        self.turns = list(turns)
        self.requests: list[Request] = []

    async def ready(self) -> None:
        pass

    async def send(self, request: Request, seconds: float) -> Answer:
        self.requests.append(request)
        turn = self.turns.pop(0) if self.turns else answer()
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, float):
            await asyncio.sleep(turn)
            return answer()
        return turn

    def close(self) -> None:
        pass


def model_of(upstream: Played, budget: Budget | None = None, **spec: Any) -> tuple[Model, list[Step]]:
    steps: list[Step] = []
    meter = BudgetMeter(budget or Budget(), PRICE)
    made = ModelSpec("openai/x", price=PRICE, **spec)
    return Model(made, budget=meter, record=steps.append, seed=7, upstream=upstream), steps


def test_one_call_is_one_step_with_all_about_it() -> None:
    model, steps = model_of(Played())
    reply = model.complete(MESSAGES, temperature=0.5, top_p=None)
    assert (reply.text, reply.step, reply.message["role"]) == ("hi", 1, "assistant")
    (step,) = steps
    about = json.loads(step.arguments or "")
    assert about["sampling"] == {"seed": 7, "temperature": 0.5}
    assert (step.role, step.number, step.usage.prompt_tokens, about["tries"]) == ("model", 1, 10, 1)
    assert model.usage.cost_usd == pytest.approx(PRICE.of(Usage(prompt_tokens=10, completion_tokens=5)))
    assert model.usage.model_served == "m-1"


def test_failed_tries_are_neither_steps_nor_working_time() -> None:
    model, steps = model_of(Played([Refused(500), Refused(429, 0.2), ConnectionError("gone"), answer("at last")]))
    assert model.complete(MESSAGES).text == "at last"
    assert model.usage.steps == 1 and model.usage.total_tokens == 15
    assert model.usage.wait_seconds >= 0.2
    assert model.budget.working_seconds <= model.budget.wall_seconds - 0.2
    assert json.loads(steps[0].arguments or "")["tries"] == 4


@pytest.mark.parametrize(("status", "cls"), [(401, StudyStopper), (402, StudyStopper), (400, RequestRefused)])
def test_what_no_retry_can_mend_is_sent_once(status: int, cls: type[Exception]) -> None:
    upstream = Played([Refused(status)])
    model, steps = model_of(upstream)
    with pytest.raises(cls):
        model.complete(MESSAGES)
    assert len(upstream.requests) == 1 and model.usage.steps == 0 and steps == []


@pytest.mark.parametrize("status", [403, 404])
def test_one_request_that_is_denied_alone_stops_no_study(status: int) -> None:
    """Some providers deny a flagged text or a feature in the words that others have for a wrong key or model."""
    model, _ = model_of(Played([Refused(status), Refused(status)]))
    with pytest.raises(StudyStopper):
        model.complete(MESSAGES)
    upstream = Played([Refused(status), answer("probe")])
    model, steps = model_of(upstream)
    with pytest.raises(RequestRefused) as caught:
        model.complete(MESSAGES)
    assert caught.value.stop_reason is StopReason.REQUEST
    assert len(upstream.requests) == 2 and model.usage.steps == 0 and steps == []


def test_an_outage_ends_in_a_fault_when_patience_does() -> None:
    model, _ = model_of(Played([Refused(503)] * 50), patience_seconds=1.0)
    with pytest.raises(Fault) as caught:
        model.complete(MESSAGES)
    assert caught.value.cause == "provider_error"
    assert model.usage == Usage(wait_seconds=model.usage.wait_seconds)


def test_an_outage_until_the_wall_is_not_the_agents_failure() -> None:
    model, _ = model_of(Played([Refused(503, 30)] * 9), Budget(minutes=None, wall_minutes=0.1))
    with pytest.raises(Fault):
        model.complete(MESSAGES)


class Broken(Played):
    """Answers everybody but the one who says hello."""

    async def send(self, request: Request, seconds: float) -> Answer:
        self.requests.append(request)
        if request.messages == MESSAGES:
            raise Refused(500)
        return answer()


def test_a_request_that_breaks_a_working_provider_is_its_own_fault() -> None:
    upstream = Broken()
    model, steps = model_of(upstream, patience_seconds=0.5)
    with pytest.raises(RequestRefused) as caught:
        model.complete(MESSAGES)
    assert caught.value.stop_reason is StopReason.REQUEST
    assert sum(request.messages != MESSAGES for request in upstream.requests) == 1
    assert steps == [] and model.usage.steps == 0


def test_a_provider_that_has_just_come_back_is_asked_once_more() -> None:
    model, _ = model_of(Played([Refused(503), Refused(503, 2), answer("probe"), answer("saved")]), patience_seconds=1.0)
    assert model.complete(MESSAGES).text == "saved"


def test_a_silent_provider_is_asked_again() -> None:
    upstream = Played([60.0, answer("awake")])
    model, _ = model_of(upstream, timeout_seconds=0.2)
    assert model.complete(MESSAGES).text == "awake"
    assert len(upstream.requests) == 2 and model.usage.total_tokens == 15


def test_a_call_cut_by_the_clock_is_charged_its_upper_estimate() -> None:
    model, steps = model_of(Played([60.0]), Budget(minutes=0.005, tokens=10_000))
    with pytest.raises(BudgetExhausted) as caught:
        model.complete(MESSAGES, max_tokens=100)
    assert caught.value.stop_reason is StopReason.MINUTES
    assert model.usage.completion_tokens == 100 and model.usage.prompt_tokens >= 5
    assert json.loads(steps[0].arguments or "")["flags"] == ["estimated"]


def test_the_answer_is_shortened_to_what_the_budget_holds() -> None:
    upstream = Played()
    model, _ = model_of(upstream, Budget(tokens=200))
    model.complete(MESSAGES, max_completion_tokens=5000)
    assert upstream.requests[0].sampling["max_completion_tokens"] < 200
    model.complete(MESSAGES)
    assert upstream.requests[1].sampling["max_tokens"] < 190
    model.complete(MESSAGES, max_completion_tokens=20, max_tokens=5000)
    assert upstream.requests[2].sampling == {"seed": 7, "max_completion_tokens": 20}, "no second bound, and no other"


def test_half_a_character_in_an_answer_breaks_no_later_request() -> None:
    model, _ = model_of(Played([answer("half \ud83d")]))
    reply = model.complete(MESSAGES)
    assert reply.text == reply.message["content"] == "half ?"
    model.complete([*MESSAGES, reply.message])


def test_fifty_calls_at_once_never_pass_a_budget_for_five() -> None:
    upstream = Played([0.01] * 50)
    model, _ = model_of(upstream, Budget(steps=5))

    async def crowd() -> list[Any]:
        return await asyncio.gather(*(model.acomplete(MESSAGES) for _ in range(50)), return_exceptions=True)

    results = wait_for(crowd())
    assert sum(isinstance(result, BudgetExhausted) for result in results) == 45
    assert len(upstream.requests) == 5 and model.usage.steps == 5


def test_closing_cuts_what_is_under_way_and_charges_it() -> None:
    model, steps = model_of(Played([60.0]))
    raised: list[BaseException] = []

    def call() -> None:
        try:
            model.complete(MESSAGES)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    deadline = time.monotonic() + 30
    while not model._line.upstream.requests and time.monotonic() < deadline:  # type: ignore[attr-defined]
        time.sleep(0.01)
    model.close()
    thread.join(30)
    assert not thread.is_alive() and len(raised) == 1
    assert model.usage.steps == 1 and len(steps) == 1
    with pytest.raises(AgentStopped):
        model.complete(MESSAGES)


def test_a_broken_answer_of_the_upstream_is_the_providers() -> None:
    model, _ = model_of(Played([KeyError("choices"), answer()]))
    assert model.complete(MESSAGES).text == "hi"
