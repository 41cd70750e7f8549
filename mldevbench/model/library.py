"""litellm, imported once and late (it costs seconds), with the one logger and the one player of this process."""

from __future__ import annotations

import asyncio
import functools
import gc
import os
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mldevbench.model.player import PROVIDER, ScriptedError, Stage

CALL = "mldevbench_call"  # the metadata key that says which call an event belongs to


@dataclass(frozen=True)
class Event:
    """What litellm reports of one answered call."""

    usage: Mapping[str, Any]
    cost_usd: float | None


class Ledger:
    """Hands each event to the call that it belongs to; an event that nobody expects is dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expected: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Future[Event]]] = {}

    def expect(self, call: str) -> asyncio.Future[Event]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Event] = loop.create_future()
        with self._lock:
            self._expected[call] = (loop, future)
        return future

    def forget(self, call: str) -> None:
        with self._lock:
            self._expected.pop(call, None)

    def deliver(self, kwargs: Mapping[str, Any], response: Any) -> None:
        metadata = (kwargs.get("litellm_params") or {}).get("metadata") or {}
        usage = getattr(response, "usage", None)
        with self._lock:
            waiting = self._expected.pop(metadata.get(CALL, ""), None) if usage is not None else None
        if waiting is None or usage is None:
            return
        loop, future = waiting
        event = Event(usage.model_dump(), kwargs.get("response_cost"))
        loop.call_soon_threadsafe(lambda: None if future.done() else future.set_result(event))


@dataclass(frozen=True)
class Library:
    litellm: Any
    ledger: Ledger
    stage: Stage


_once = threading.Lock()


def library() -> Library:
    """Import litellm and register what is ours, once per process."""
    with _once:
        return _library()


@contextmanager
def _no_search_for_rings() -> Iterator[None]:
    """Spare an import of very many objects the collector's looks at them, a sixth of its time; they stay anyway."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if searching:
            gc.enable()


@functools.cache
def _library() -> Library:
    # Its import fetches a price list otherwise, and hangs where there is no network.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    with _no_search_for_rings():
        import litellm
        from litellm.integrations.custom_logger import CustomLogger
        from litellm.llms.custom_llm import CustomLLM

    for words in ("Item .* on TypedDict class", "Accessing the 'model_"):
        warnings.filterwarnings("ignore", message=words)  # about litellm's own types
    ledger, stage = Ledger(), Stage()

    class Logger(CustomLogger):
        # litellm passes these by keyword; other names would silently count nothing.
        def log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
            ledger.deliver(kwargs, response_obj)

        async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
            ledger.deliver(kwargs, response_obj)

    class Scripted(CustomLLM):
        async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
            try:
                answer = await stage.play(kwargs["model"], kwargs["messages"])
            except ScriptedError as error:
                raise _as_provider_error(litellm, error, kwargs["model"]) from None
            return litellm.ModelResponse(**answer)

    litellm.suppress_debug_info = True
    litellm.disable_aiohttp_transport = True  # its sessions are never closed
    litellm.callbacks = [Logger()]
    litellm.custom_provider_map = [{"provider": PROVIDER, "custom_handler": Scripted()}]
    return Library(litellm, ledger, stage)


def _as_provider_error(litellm: Any, error: ScriptedError, model: str) -> Exception:
    import httpx

    classes = {
        400: litellm.BadRequestError,
        401: litellm.AuthenticationError,
        403: litellm.PermissionDeniedError,
        404: litellm.NotFoundError,
        408: litellm.Timeout,
        429: litellm.RateLimitError,
        503: litellm.ServiceUnavailableError,
    }
    request = httpx.Request("POST", "http://scripted")
    response = httpx.Response(error.status_code, headers=error.litellm_response_headers, request=request)
    made = classes.get(error.status_code, litellm.InternalServerError)
    if made is litellm.Timeout:
        return made(message=str(error), model=model, llm_provider=PROVIDER)
    return made(message=str(error), model=model, llm_provider=PROVIDER, response=response)
