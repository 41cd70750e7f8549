"""One call to a provider through litellm: no retries, no budget, only the answer and what it used."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mldevbench.model.failure import Malformed
from mldevbench.model.library import CALL, Event, library
from mldevbench.model.player import PROVIDER, Player
from mldevbench.model.script import parse_script
from mldevbench.model.spec import ModelSpec
from mldevbench.records import Usage

GUESSED = "mldevbench_guessed"  # the provider told no usage; litellm counted by itself
EVENT_SECONDS = 5.0  # litellm reports a few milliseconds after it returns


@dataclass(frozen=True)
class Request:
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    stream: bool = False


@dataclass(frozen=True)
class Answer:
    """A provider's answer in OpenAI's form, and its usage."""

    raw: Mapping[str, Any]
    usage: Usage
    flags: tuple[str, ...] = ()


class Upstream(Protocol):
    async def ready(self) -> None:
        """Do what takes long and is no part of a call."""
        ...

    async def send(self, request: Request, seconds: float) -> Answer: ...

    def close(self) -> None: ...


class Provider:
    """The way out for one model."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._player: str | None = None

    async def ready(self) -> None:
        await asyncio.to_thread(library)

    async def send(self, request: Request, seconds: float) -> Answer:
        litellm, ledger = library().litellm, library().ledger
        call = uuid.uuid4().hex
        reported = ledger.expect(call)
        try:
            async with asyncio.timeout(seconds):
                response = await litellm.acompletion(**self._arguments(request, call))
                raw = await _collected(litellm, response, request) if self._streams(request) else response.model_dump()
            _demand_answer(raw)
            event = await _within(reported, EVENT_SECONDS)
        finally:
            ledger.forget(call)
        return self._answer(raw, event)

    def close(self) -> None:
        if self._player is not None:
            library().stage.leave(self._player)

    def _streams(self, request: Request) -> bool:
        return request.stream and not self._spec.played

    def _arguments(self, request: Request, call: str) -> dict[str, Any]:
        spec = self._spec
        arguments: dict[str, Any] = {
            **request.sampling,
            "model": self._model(),
            "messages": copy.deepcopy(list(request.messages)),  # litellm edits them in place
            "api_base": spec.api_base,
            "api_key": spec.key,
            "timeout": spec.timeout_seconds,  # not this call's own: litellm opens new connections for each other value
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,  # temperature and seed go only to models that take them
            "metadata": {CALL: call},
        }
        if request.tools:
            arguments["tools"] = copy.deepcopy(list(request.tools))
        if self._streams(request):
            arguments |= {"stream": True, "stream_options": {"include_usage": True}}
        return arguments

    def _model(self) -> str:
        if not self._spec.played:
            return self._spec.name
        if self._player is None:
            if self._spec.script is None:
                raise ValueError(f"{self._spec.name} was given no turns")
            script = parse_script(self._spec.script, self._spec.name)
            self._player = library().stage.enter(Player(script))
        return f"{PROVIDER}/{self._player}"

    def _answer(self, raw: Mapping[str, Any], event: Event | None) -> Answer:
        usage = _usage(event.usage if event else raw.get("usage") or {}, raw.get("model"))
        flags = (() if event else ("no callback",)) + (("usage guessed",) if raw.get(GUESSED) else ())
        return Answer(raw, self._priced(usage, event.cost_usd if event else None), flags)

    def _priced(self, usage: Usage, reported: float | None) -> Usage:
        price = self._spec.price
        if price is None:
            cost = None
        elif price.listed and reported is not None:
            cost = reported
        else:
            cost = price.of(usage)
        return Usage(
            steps=1,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens,
            cost_usd=cost,
            model_served=usage.model_served,
        )


async def _collected(litellm: Any, stream: Any, request: Request) -> dict[str, Any]:
    """Read a stream to its end and put it together."""
    chunks = [chunk async for chunk in stream]
    # litellm makes up a finish and a usage for a stream that broke off; these are what the provider said.
    if getattr(stream, "received_finish_reason", None) is None:
        raise Malformed("the stream ended before the answer did")
    whole = litellm.stream_chunk_builder(chunks, messages=list(request.messages))
    if whole is None:
        raise Malformed("the stream held no answer")
    raw = whole.model_dump()
    raw["model"] = getattr(stream, "_provider_response_model", None) or raw.get("model")
    if not any(getattr(chunk, "usage", None) for chunk in getattr(stream, "chunks", [])):
        raw[GUESSED] = True
    return raw


def _demand_answer(raw: Mapping[str, Any]) -> None:
    choices = raw.get("choices")
    if not choices or not isinstance(choices[0].get("message"), Mapping):
        raise Malformed("the answer has no message")
    if not raw.get("usage"):
        raise Malformed("the answer has no usage")


async def _within(future: asyncio.Future[Event], seconds: float) -> Event | None:
    done, _ = await asyncio.wait([future], timeout=seconds)
    return future.result() if done else None


def _usage(reported: Mapping[str, Any], served: str | None) -> Usage:
    prompt = reported.get("prompt_tokens_details") or {}
    completion = reported.get("completion_tokens_details") or {}
    return Usage(
        prompt_tokens=int(reported.get("prompt_tokens") or 0),
        completion_tokens=int(reported.get("completion_tokens") or 0),
        cached_tokens=int(prompt.get("cached_tokens") or 0),
        reasoning_tokens=int(completion.get("reasoning_tokens") or 0),
        model_served=served,
    )
