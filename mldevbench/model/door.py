"""The model as agents and the gateway see it: every call reserved, paced, retried, counted and recorded."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mldevbench.digest import canonical
from mldevbench.model.budget import AgentStopped, Ask, BudgetExhausted, BudgetMeter, Reservation
from mldevbench.model.call import Call, Line
from mldevbench.model.estimate import Estimator
from mldevbench.model.failure import StudyStopper
from mldevbench.model.loop import wait_for
from mldevbench.model.pacer import LocalPacer, Pacer
from mldevbench.model.reply import Reply, ToolCall, reply_of
from mldevbench.model.secrets import Scrubber
from mldevbench.model.spec import ModelSpec, resolve
from mldevbench.model.upstream import Answer, Provider, Request, Upstream
from mldevbench.records import Step, StopReason, Usage

__all__ = ["AgentStopped", "Model", "ModelSpec", "Reply", "StudyStopper", "ToolCall", "resolve"]

LOOK_AGAIN = 0.02  # seconds between looks whether a reservation fits now
CLOSE_SECONDS = 5.0
LENGTHS = ("max_completion_tokens", "max_tokens")


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
        between: Callable[[], None] | None = None,
    ) -> None:
        self.spec = spec
        self._between = between  # called before each call, when what follows from the last is done
        self.budget = budget
        self.record = record
        self._seed = seed
        own_key = Scrubber([spec.key])
        self._scrub: Callable[[str], str] = lambda text: scrub(own_key(text))
        self._clock = clock
        self._estimator = Estimator()
        self._line = Line(
            spec,
            budget,
            pacer or LocalPacer(spec.pace),
            upstream or Provider(spec),
            clock,
            random.Random(seed),
            self._scrub,
        )
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
                await self._line.upstream.ready()
            self._ready = True
        if self._between:
            await asyncio.to_thread(self._between)
        given = {name: value for name, value in sampling.items() if value is not None}
        request = Request(messages, tools, {"seed": self._seed, **given}, stream)
        reservation = await self._reserve(request)
        if reservation.max_tokens is not None:
            request = replace(request, sampling=_bounded(request.sampling, reservation.max_tokens))
        call = Call(self._line, request, reservation)
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
        self._line.upstream.close()

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

    def _count(self, call: Call, answer: Answer) -> Reply:
        step = self.budget.settle(call.reservation, answer.usage, call.started, call.ended)
        self._estimator.learn(call.request.messages, call.request.tools, answer.usage.prompt_tokens)
        seconds = call.ended - call.started
        spent = replace(answer.usage, model_seconds=seconds, wait_seconds=call.waited)
        reply = reply_of(answer.raw, spent, step)
        self._note(call, reply, answer.flags)
        return reply

    def _unanswered(self, call: Call, error: BaseException) -> None:
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

    def _note(self, call: Call, reply: Reply, flags: tuple[str, ...]) -> None:
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


def _bounded(sampling: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """Bound the answer by one name only: a request with both would be held to whichever the provider reads."""
    name = "max_completion_tokens" if "max_completion_tokens" in sampling else "max_tokens"
    return {key: value for key, value in sampling.items() if key not in LENGTHS} | {name: max_tokens}
