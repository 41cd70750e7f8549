"""What the one door to the models costs: a call through it against a bare one, and how fast permits come."""

from __future__ import annotations

import asyncio
import json
import socket
import statistics
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from figure import Figure

from mldevbench.model.budget import BudgetMeter
from mldevbench.model.door import Model, ModelSpec
from mldevbench.model.gateway.server import Gateway
from mldevbench.model.limiter import Outcome
from mldevbench.model.pacer import LocalPacer
from mldevbench.records import Budget

GROUP = "Models"
TIMES = 40
PERMITS = 20_000
HELLO = [{"role": "user", "content": "hello"}]
ANSWER = json.dumps(
    {
        "id": "1", "object": "chat.completion", "created": 0, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "done"}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    }
).encode()  # fmt: skip


class Provider(BaseHTTPRequestHandler):
    """Answers at once."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the body waits 40 ms for word that the headers have arrived

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, format: str, *args: object) -> None:
        pass


def measure() -> Iterator[Figure]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        model = door(base)
        bare, through = milliseconds(lambda: ask(base)), milliseconds(lambda: model.complete(HELLO))
        beyond = through_gateway(model)
    finally:
        server.shutdown()
        server.server_close()
    yield Figure(GROUP, "a bare call of a server on loopback", bare, "ms")
    yield Figure(GROUP, "the same through the door: reserved, paced, counted, recorded", through, "ms")
    yield Figure(GROUP, "the same through a run's gateway, as a program in the sandbox calls it", beyond, "ms")
    yield Figure(GROUP, "permits that a limiter hands out", asyncio.run(permits()), "a second")


def ask(base: str) -> None:
    body = json.dumps({"model": "m", "messages": HELLO}).encode()
    request = urllib.request.Request(f"{base}/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        answer.read()


def door(base: str) -> Model:
    spec = ModelSpec("openai/m", api_base=base, key="sk-none")
    return Model(spec, budget=BudgetMeter(Budget(steps=10_000)), record=lambda step: None)


def through_gateway(model: Model) -> float:
    """Return the milliseconds of a call over the socket that a sandbox is given."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        gateway = Gateway(model, Path(folder) / "s")
        gateway.start()
        client = HTTPConnection("gateway")
        client.sock = socket.socket(socket.AF_UNIX)
        client.sock.connect(str(gateway.socket))
        headers = {"Authorization": f"Bearer {gateway.key}", "Content-Type": "application/json"}
        body = json.dumps({"model": gateway.model_name, "messages": HELLO})

        def call() -> None:
            client.request("POST", "/v1/chat/completions", body, headers)
            with client.getresponse() as answer:
                assert answer.status == 200, answer.read()
                answer.read()

        try:
            return milliseconds(call)
        finally:
            client.close()
            gateway.close()


def milliseconds(act: Callable[[], object]) -> float:
    act()
    took = []
    for _ in range(TIMES):
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    return 1000 * statistics.median(took)


async def permits() -> float:
    pacer = LocalPacer()
    began = time.perf_counter()
    for _ in range(PERMITS):
        await pacer.release(await pacer.acquire(10), Outcome.OK)
    return PERMITS / (time.perf_counter() - began)
