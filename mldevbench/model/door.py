"""The model as agents and the gateway see it: every call reserved, paced, retried, counted and recorded."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from mldevbench.digest import canonical
from mldevbench.errors import Fault
from mldevbench.model.budget import AgentStopped, Ask, BudgetExhausted, BudgetMeter, Reservation
from mldevbench.model.estimate import Estimator
from mldevbench.model.failure import (
    WORTH_RETRYING,
    Failure,
    Kind,
    StudyStopper,
    backoff,
    failure_of,
    final,
)
from mldevbench.model.limiter import Outcome
from mldevbench.model.loop import wait_for
from mldevbench.model.pacer import LocalPacer, Pacer
from mldevbench.model.reply import Reply, ToolCall, reply_of
from mldevbench.model.spec import ModelSpec, resolve
from mldevbench.model.upstream import Answer, Provider, Request, Upstream
from mldevbench.records import Cause, Step, StopReason, Usage

__all__ = ["AgentStopped", "Model", "ModelSpec", "Reply", "StudyStopper", "ToolCall", "resolve"]

LOOK_AGAIN = 0.02  # seconds between looks whether a reservation fits now
CLOSE_SECONDS = 5.0


class Model:
    """One attempt's model; safe to use from several threads and tasks."""

    def __init__(
        self,
        spec: ModelSpec,
        *,
        budget: BudgetMeter,
        record: Callable[[Step], None],
        pacer: Pacer | None = None,
        seed: int = 0,
        scrub: Callable[[str], str] = str,
        clock: Callable[[], float] = time.monotonic,
        upstream: Upstream | None = None,
    ) -> None:
        self.spec = spec
        self.budget = budget
        self.record = record
        self._pacer = pacer or LocalPacer(spec.pace)
        self._seed = seed
        self._scrub = scrub
        self._clock = clock
        self._upstream = upstream or Provider(spec)
        self._estimator = Estimator()
        self._chance = random.Random(seed)
        self._tasks: set[asyncio.Future[Answer]] = set()
        self._closed = False
        self._ready = False

    @property
    def usage(self) -> Usage:
        return self.budget.usage

    def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        **sampling: Any,
    ) -> Reply:
        """Ask for one turn and wait for it."""
        return wait_for(self.acomplete(messages, tools=tools, **sampling))

    async def acomplete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        stream: bool = False,
        **sampling: Any,
    ) -> Reply:
        """Ask for one turn; with `stream` the provider streams it, and the whole is returned."""
        self._demand_open()
        if not self._ready:
            with self.budget.waiting():
                await self._upstream.ready()
            self._ready = True
        given = {name: value for name, value in sampling.items() if value is not None}
        request = Request(messages, tools, {"seed": self._seed, **given}, stream)
        reservation = await self._reserve(request)
        if reservation.max_tokens is not None:
            request = replace(request, sampling={**request.sampling, **_longest(given, reservation.max_tokens)})
        call = _Call(self, request, reservation)
        task = asyncio.ensure_future(call.answered())
        self._tasks.add(task)
        try:
            return self._count(call, await task)
        except BaseException as error:
            self._unanswered(call, error)
            raise
        finally:
            self._tasks.discard(task)

    def close(self) -> None:
        """Cut the calls that are under way and let no other out."""
        self._closed = True
        for task in list(self._tasks):
            task.get_loop().call_soon_threadsafe(task.cancel)
        deadline = self._clock() + CLOSE_SECONDS
        while self._tasks and self._clock() < deadline:
            time.sleep(LOOK_AGAIN)
        self._upstream.close()

    def note(self, text: str) -> None:
        """Record something about the model that is no call."""
        self.record(Step(role="note", text=self._scrub(text), number=self.usage.steps, at=datetime.now(UTC)))

    def _demand_open(self) -> None:
        if self._closed:
            raise AgentStopped(StopReason.FINISHED, "the attempt is over")

    async def _reserve(self, request: Request) -> Reservation:
        asked = request.sampling.get("max_completion_tokens") or request.sampling.get("max_tokens")
        bound = self._estimator.bound(request.messages, request.tools)
        ask = Ask(bound, asked, self.spec.max_output)
        while (reservation := self.budget.reserve(ask)) is None:
            await asyncio.sleep(LOOK_AGAIN)
            self._demand_open()
        return reservation

    def _count(self, call: _Call, answer: Answer) -> Reply:
        step = self.budget.settle(call.reservation, answer.usage, call.started, call.ended)
        self._estimator.learn(call.request.messages, call.request.tools, answer.usage.prompt_tokens)
        seconds = call.ended - call.started
        spent = replace(answer.usage, model_seconds=seconds, wait_seconds=call.waited)
        reply = reply_of(answer.raw, spent, step)
        self._note(call, reply, answer.flags)
        return reply

    def _unanswered(self, call: _Call, error: BaseException) -> None:
        """Free what a failed call held; one that we cut ourselves is charged its upper estimate."""
        if not (call.in_flight and isinstance(error, asyncio.CancelledError | BudgetExhausted)):
            self.budget.release(call.reservation)
            return
        held = call.reservation
        worst = Usage(
            steps=1,
            prompt_tokens=held.prompt_tokens,
            completion_tokens=held.tokens - held.prompt_tokens,
            cost_usd=None if self.spec.price is None else held.usd,
        )
        step = self.budget.settle(held, worst, call.started, self._clock())
        raw = {"choices": [{"message": {}, "finish_reason": "cut"}]}
        self._note(call, reply_of(raw, worst, step), ("estimated",))

    def _note(self, call: _Call, reply: Reply, flags: tuple[str, ...]) -> None:
        sampling = {name: value for name, value in call.request.sampling.items() if name != "response_format"}
        about = {
            "sampling": sampling,
            "served": reply.usage.model_served,
            "fingerprint": reply.fingerprint,
            "finish": reply.finish,
            "tries": call.tries,
            "calls": [{"name": one.name, "arguments": one.arguments} for one in reply.calls],
            "flags": list(flags),
        }
        self.record(
            Step(
                role="model",
                text=self._scrub(reply.text),
                arguments=self._scrub(canonical(about)),
                seconds=reply.usage.model_seconds,
                number=reply.step,
                usage=reply.usage,
                reasoning=None if reply.reasoning is None else self._scrub(reply.reasoning),
                at=datetime.now(UTC),
            )
        )


class _Call:
    """One call with its tries; a failed try costs no tokens and no working time."""

    def __init__(self, model: Model, request: Request, reservation: Reservation) -> None:
        self.request = request
        self.reservation = reservation
        self.tries = 0
        self.started = self.ended = 0.0
        self.waited = 0.0
        self.in_flight = False
        self._model = model
        self._failing_since: float | None = None

    async def answered(self) -> Answer:
        """Try until there is an answer, the failure is final, or patience is at its end."""
        model = self._model
        while True:
            outcome = await self._try()
            if isinstance(outcome, Answer):
                return outcome
            if self._failing_since is None:
                self._failing_since = self.started
            wait = backoff(outcome, self.tries, model._chance.random())
            ends = model._clock() + wait
            if outcome.kind not in WORTH_RETRYING or ends - self._failing_since > model.spec.patience_seconds:
                raise final(outcome, model.spec.name)
            if wait >= model.budget.remaining().wall_seconds:
                raise Fault(Cause.PROVIDER_ERROR, f"{model.spec.name}: {outcome.detail} until the time was up")
            await self._wait(asyncio.sleep(wait))

    async def _try(self) -> Answer | Failure:
        model = self._model
        permit = await self._wait(self._permit())
        self.tries += 1
        result, retry_after = Outcome.FAILED, None
        self.started = model._clock()
        self.in_flight = True
        seconds = self._seconds()
        try:
            async with asyncio.timeout(seconds):
                answer = await model._upstream.send(self.request, seconds)
            self.ended, self.in_flight = model._clock(), False
            result = Outcome.OK
            return answer
        except Exception as error:
            failure = failure_of(error)
            self._demand_time(failure)
            self.in_flight = False
            model.budget.failed(self.started, model._clock())
            self.waited += model._clock() - self.started
            if failure.kind is Kind.RATE:
                result, retry_after = Outcome.RATE, failure.retry_after
            return failure
        finally:
            await model._pacer.release(permit, result, retry_after)

    async def _permit(self) -> Any:
        try:
            async with asyncio.timeout(max(0.0, self._model.budget.remaining().wall_seconds)):
                return await self._model._pacer.acquire(self.reservation.tokens)
        except TimeoutError:
            raise Fault(Cause.PROVIDER_ERROR, "no permit to call before the time was up") from None

    async def _wait(self, coroutine: Any) -> Any:
        started = self._model._clock()
        try:
            with self._model.budget.waiting():
                return await coroutine
        finally:
            self.waited += self._model._clock() - started

    def _seconds(self) -> float:
        left = self._model.budget.remaining()
        working = left.wall_seconds if left.seconds is None else left.seconds
        return max(0.01, min(self._model.spec.timeout_seconds, left.wall_seconds, working))

    def _demand_time(self, failure: Failure) -> None:
        """Tell a slow provider from an attempt whose time is up."""
        if failure.kind is not Kind.TIMEOUT or self._failing_since is not None:
            return
        left = self._model.budget.remaining()
        if left.wall_seconds <= 0.01:
            _stop(StopReason.WALL_MINUTES)
        if left.seconds is not None and left.seconds <= 0.01:
            _stop(StopReason.MINUTES)


def _stop(reason: StopReason) -> NoReturn:
    raise BudgetExhausted(reason, "while the model was answering")


def _longest(given: Mapping[str, Any], max_tokens: int) -> dict[str, int]:
    name = "max_completion_tokens" if "max_completion_tokens" in given else "max_tokens"
    return {name: max_tokens}
