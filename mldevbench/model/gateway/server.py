"""A run's own server on a unix socket: asks for the run's key, passes on what is allowed, counts everything."""

from __future__ import annotations

import asyncio
import functools
import hmac
import json
import os
import secrets
import socket as sockets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from mldevbench.digest import of_value
from mldevbench.errors import Fault
from mldevbench.model import inside
from mldevbench.model.budget import AgentStopped, BudgetExhausted
from mldevbench.model.door import Model, Reply
from mldevbench.model.failure import StudyStopper
from mldevbench.model.gateway import answer
from mldevbench.model.gateway.dialect import CHAT, Dialect
from mldevbench.model.gateway.messages import MESSAGES
from mldevbench.model.gateway.report import Reports
from mldevbench.model.gateway.request import MODEL, ChatRequest, Forbidden
from mldevbench.model.gateway.responses import RESPONSES
from mldevbench.model.loop import wait_for
from mldevbench.records import Step
from mldevbench.sandbox.protocol import Bind

SOCKET = "/run/gateway.sock"  # as it is seen inside
FORWARDER = "/run/forwarder.py"
REPORT = "/run/report.py"
PORT = 4141
LARGEST_BODY = 32 * 1024 * 1024
KEEP_ALIVE = 10.0  # seconds between signs of life to a client that streams
LONGEST_NOTE = 20_000
DIALECTS = {"chat/completions": CHAT, "messages": MESSAGES, "responses": RESPONSES}


class Gateway:
    """Serves one run from `start` to `close`; its key is worth nothing elsewhere or later.

    A streamed answer is passed on when all of it is there, so that a stream that breaks upstream is asked for
    again unseen, and a client that hangs up is counted like any other: the call goes on to its end.
    """

    def __init__(self, model: Model, socket: Path, *, reports: bool = False) -> None:
        self.key = f"run-{secrets.token_urlsafe(32)}"
        self.url = f"http://127.0.0.1:{PORT}"
        self.model_name = MODEL
        self.socket = socket
        self.failure: Fault | StudyStopper | None = None  # of the last call, while no later one was answered
        self.stopped: AgentStopped | None = None
        self._model = model
        self._runner: web.AppRunner | None = None
        self._listener: sockets.socket | None = None
        self._tasks: set[asyncio.Task[Reply]] = set()
        self._noted: set[str] = set()
        self._reports = Reports(model, expected=reports)

    @property
    def binds(self) -> tuple[Bind, ...]:
        """What a sandbox must show read-only besides the socket."""
        return (Bind(inside.FORWARDER, FORWARDER), Bind(inside.REPORT, REPORT))

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """Return a command that runs `argv` inside with the gateway at `url`."""
        return ["python3", "-I", FORWARDER, SOCKET, str(PORT), "--", *argv]

    @property
    def over(self) -> bool:
        """Whether the model has no more to say to this run."""
        return self.failure is not None or self.stopped is not None

    def start(self) -> None:
        wait_for(self._start())

    def close(self) -> None:
        """Let nobody in any more; calls under way are cut and charged."""
        wait_for(self._close())
        self.socket.unlink(missing_ok=True)

    def raise_failure(self) -> None:
        """Raise what ended the model for this run, if anything did."""
        if self.failure is not None:
            raise self.failure
        if self.stopped is not None:
            raise self.stopped

    async def _start(self) -> None:
        app = web.Application(client_max_size=LARGEST_BODY, middlewares=[self._guarded])
        for prefix in ("", "/v1"):
            for path, dialect in DIALECTS.items():
                app.router.add_post(f"{prefix}/{path}", functools.partial(self._serve, dialect))
            app.router.add_get(f"{prefix}/models", self._models)
        app.router.add_post("/trajectory", self._reports.take)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
        await self._runner.setup()
        self._listener = _listen(self.socket)
        await web.SockSite(self._runner, self._listener).start()

    async def _close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=5.0)
        if self._runner is not None:
            await self._runner.cleanup()
        if self._listener is not None:
            self._listener.close()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Any) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ") or request.headers.get("x-api-key", "")
        if not hmac.compare_digest(given.encode(), self.key.encode()):
            return web.json_response(answer.problem("wrong or missing key", "invalid_api_key"), status=401)
        return await handler(request)

    async def _models(self, request: web.Request) -> web.Response:
        listed = {"id": MODEL, "object": "model", "created": 0, "owned_by": "mldevbench"}
        return web.json_response({"object": "list", "data": [listed]})

    async def _serve(self, dialect: Dialect, request: web.Request) -> web.StreamResponse:
        try:
            asked = dialect.read(json.loads(await request.read()))
            of_value([asked.messages, asked.tools, asked.sampling])  # raises for NaN and half characters: no JSON
        except Forbidden as error:
            self._model.note(f"gateway refused a request: {error}")
            return web.json_response(dialect.problem(str(error), "forbidden_field"), status=400)
        except (ValueError, TypeError, AttributeError, RecursionError):
            return web.json_response(dialect.problem("the body can't be read", "invalid_request_error"), status=400)
        self._note_new(asked)
        task = asyncio.create_task(self._ask(asked))
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        if asked.stream:
            return await self._stream(request, asked, task, dialect)
        await asyncio.wait([task])
        status, body = _outcome(task, dialect)
        return web.json_response(body, status=status)

    async def _ask(self, asked: ChatRequest) -> Reply:
        if self.stopped is not None:
            raise self.stopped  # a smaller call might still fit, but an agent is stopped once
        try:
            reply = await self._model.acomplete(
                asked.messages, tools=asked.tools, stream=asked.stream, **asked.sampling
            )
        except (Fault, StudyStopper) as error:
            self.failure = error
            raise
        except BudgetExhausted as error:
            self.stopped = error
            raise
        self.failure = None
        return reply

    async def _stream(
        self, request: web.Request, asked: ChatRequest, task: asyncio.Task[Reply], dialect: Dialect
    ) -> web.StreamResponse:
        done, _ = await asyncio.wait([task], timeout=KEEP_ALIVE)
        if done and (task.cancelled() or task.exception() is not None):
            status, body = _outcome(task, dialect)
            return web.json_response(body, status=status)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        try:
            await response.prepare(request)
            while not task.done():
                await response.write(dialect.alive)
                await asyncio.wait([task], timeout=KEEP_ALIVE)
            if task.cancelled() or task.exception() is not None:
                await response.write(dialect.broken(_outcome(task, dialect)[1]))
            else:
                for piece in dialect.events(task.result(), asked):
                    await response.write(piece)
            await response.write_eof()
        except ConnectionError:
            pass  # the client hung up; the call goes on and is counted
        return response

    def _forget(self, task: asyncio.Task[Reply]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as seen: the client that would have been told may be gone

    def _note_new(self, asked: ChatRequest) -> None:
        """Record what the client says that it hasn't said before: tool results, mostly."""
        for message in asked.messages:
            mark = of_value(message, 24)
            told = message["role"] == "tool" and self._reports.expected
            if message["role"] == "assistant" or told or mark in self._noted:
                continue
            self._noted.add(mark)
            text = message["content"] if isinstance(message["content"], str) else json.dumps(message["content"])
            role = "tool" if message["role"] == "tool" else "note"
            self._model.record(Step(role=role, text=text[:LONGEST_NOTE], number=self._model.usage.steps))


def _outcome(task: asyncio.Task[Reply], dialect: Dialect) -> tuple[int, Mapping[str, Any]]:
    if task.cancelled():
        return 503, dialect.problem("the run is over", "run_over")
    error = task.exception()
    if error is None:
        return 200, dialect.whole(task.result())
    if isinstance(error, BudgetExhausted):
        return 403, dialect.problem(f"the budget is used up: {error.stop_reason}", "budget_exhausted")
    if isinstance(error, AgentStopped):
        return 400, dialect.problem(error.detail or str(error), str(error.stop_reason))
    # What else went wrong is told to the harness; a client inside need not know how we reach the provider.
    return 503, dialect.problem("the model can't be reached", "service_unavailable")


def _listen(path: Path) -> sockets.socket:
    """Bind by way of the folder's descriptor: the name of a unix socket may have 107 bytes only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    listener = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
    path.chmod(0o666)  # the inner user is another; the key is what counts
    listener.listen(128)
    listener.setblocking(False)
    return listener
