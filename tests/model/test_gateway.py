"""The gateway as programs inside a real sandbox meet it."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from model.server import Answer, Cut, ModelServer, Refusal
from model.test_gateway_request import FORBIDDEN, PLAIN

from mldevbench.errors import Fault
from mldevbench.model.budget import BudgetExhausted, BudgetMeter
from mldevbench.model.door import Model, ModelSpec
from mldevbench.model.gateway import PORT, SOCKET, Gateway
from mldevbench.model.library import library
from mldevbench.model.price import Price
from mldevbench.records import Budget, Step
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import Bind, Sandbox, SandboxSpec

pytestmark = pytest.mark.slow

KEY = "sk-planted-in-a-test-0123456789"
PRICE = Price(2.5, 10, 1.25)
TOOL = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {}}}}
WORKING = Answer("fine", (("shell", '{"command": "ls"}'),), prompt=70, completion=9, cached=20, reasoning=3)


class Bench:
    """A gateway, a sandbox and what was recorded."""

    def __init__(self, gateway: Gateway, model: Model, sandbox: Sandbox, steps: list[Step]) -> None:
        self.gateway, self.model, self.sandbox, self.steps = gateway, model, sandbox, steps

    def curl(self, body: Any, *options: str, key: str | None = None, path: str = "/v1/chat/completions") -> str:
        """Ask from inside; return status and body."""
        given = self.gateway.key if key is None else key
        words = ["curl", "-sS", "-w", "\\n%{http_code}", "-H", "Content-Type: application/json", *options]
        words += ["-H", f"Authorization: Bearer {given}"] if given else []
        words += ["-d", "@-"] if body is not None else []
        done = self.sandbox.run(
            self.gateway.wrap([*words, f"{self.gateway.url}{path}"]), seconds=60, stdin=json.dumps(body).encode()
        )
        return done.output.decode()

    def ask(self, body: Any, **options: Any) -> tuple[int, Any]:
        text, _, status = self.curl(body, **options).rpartition("\n")
        return int(status), json.loads(text)

    def assert_counted(self, server: ModelServer) -> None:
        usage, tally = self.model.usage, server.tally
        assert (usage.steps, usage.prompt_tokens, usage.completion_tokens) == (
            tally.served,
            tally.prompt,
            tally.completion,
        )
        assert (usage.cached_tokens, usage.reasoning_tokens) == (tally.cached, tally.reasoning)
        assert usage.cost_usd == pytest.approx(PRICE.of(usage), rel=1e-12)


@contextmanager
def bench(tmp_path: Path, server: ModelServer, budget: Budget | None = None, **spec: Any) -> Iterator[Bench]:
    library()  # its import takes long on a busy machine, and the time of no request may go into it
    steps: list[Step] = []
    made = ModelSpec("openai/tested", api_base=server.base, key=KEY, price=PRICE, **spec)
    model = Model(made, budget=BudgetMeter(budget or Budget(), PRICE), record=steps.append)
    folder = tmp_path / os.urandom(4).hex()
    workspace = folder / "w"
    workspace.mkdir(parents=True)
    for parent in (folder, *folder.parents):
        if parent.is_relative_to(tmp_path.parent.parent):
            parent.chmod(0o711)
    gateway = Gateway(model, folder / "s")
    gateway.start()
    sandbox = open_sandbox(
        SandboxSpec(workspace, readonly=gateway.binds, sockets=(Bind(gateway.socket, SOCKET),)), "bubblewrap"
    )
    try:
        yield Bench(gateway, model, sandbox, steps)
    finally:
        sandbox.close()
        gateway.close()
        model.close()


def test_the_runs_key_opens_and_nothing_else_does(tmp_path: Path) -> None:
    with ModelServer(lambda number, body: WORKING) as server, bench(tmp_path, server) as at:
        status, answer = at.ask({**PLAIN, "tools": [TOOL], "seed": 5, "user": "u"})
        assert status == 200
        message = answer["choices"][0]["message"]
        assert (message["content"], message["tool_calls"][0]["function"]["arguments"]) == ("fine", '{"command": "ls"}')
        assert answer["usage"]["prompt_tokens"] == 70 and answer["model"] == "benchmark"
        assert server.tally.bodies[0]["seed"] == 5 and server.tally.keys == {KEY}
        assert set(server.tally.bodies[0]) == {"model", "messages", "tools", "seed"}
        assert at.ask(None, path="/v1/models")[1]["data"][0]["id"] == "benchmark"
        for wrong in ("", "x", KEY, at.gateway.key[:-1]):
            assert at.ask(PLAIN, key=wrong)[0] == 401
            assert at.ask(None, key=wrong, path="/v1/models")[0] == 401
        assert at.curl(None, path="/v1/embeddings").endswith("404")
        at.assert_counted(server)

        base = server.base.removesuffix("/v1")
        reached = at.sandbox.run(["curl", "-sS", "-m", "5", base], seconds=30)
        assert reached.exit_code == 7, "the provider itself is out of reach"
        seen = at.sandbox.run(
            ["bash", "-c", "cat /proc/*/environ /proc/*/cmdline; find / -xdev -name '*.py'"], seconds=60
        )
        assert KEY.encode() not in seen.output

        at.gateway.close()
        assert "401" not in at.curl(PLAIN)
        assert at.curl(PLAIN).rstrip().endswith("000"), "nobody answers after the run's end"
        assert server.tally.served == 1


def test_each_forbidden_field_is_refused_and_noted(tmp_path: Path) -> None:
    with ModelServer() as server, bench(tmp_path, server) as at:
        script = "import json, sys, urllib.request\n" + (
            "key, url, bodies = json.load(sys.stdin)\n"
            "for body in bodies:\n"
            "    request = urllib.request.Request(url + '/v1/chat/completions', json.dumps(body).encode(),\n"
            "        {'Authorization': 'Bearer ' + key, 'Content-Type': 'application/json'})\n"
            "    try:\n"
            "        print(urllib.request.urlopen(request).status)\n"
            "    except urllib.error.HTTPError as error:\n"
            "        print(error.status)\n"
        )
        bodies = [{**PLAIN, field: value} for field, value in FORBIDDEN.items()]
        bodies += [{**PLAIN, "model": name} for name in ("scripted/x", "replay/x", "openai/gpt-4o")]
        given = json.dumps([at.gateway.key, at.gateway.url, bodies]).encode()
        done = at.sandbox.run(at.gateway.wrap(["python3", "-c", script]), seconds=120, stdin=given)
        assert done.output.decode().split() == ["400"] * len(bodies)
        assert server.tally.requests == 0 and at.model.usage.steps == 0
        notes = [step.text for step in at.steps if step.role == "note"]
        assert any("api_base" in note for note in notes) and len(notes) == len(bodies)


MALFORMED = [
    b"no JSON",
    b'{"model": "benchmark", "messages": [{"role": [], "content": "x"}]}',
    b'{"model": "benchmark", "messages": [{"role": "assistant", "tool_calls": 5}]}',
    b'{"model": "benchmark", "messages": [{"role": "user", "content": "half \\ud800"}]}',
    b'{"model": "benchmark", "messages": [{"role": "user", "content": "x"}], "temperature": NaN}',
    b'{"model": "benchmark", "messages": [{"role": "user", "content": "x"}], "response_format": {"type": []}}',
]


def test_what_cannot_be_read_is_the_clients_mistake(tmp_path: Path) -> None:
    with ModelServer() as server, bench(tmp_path, server) as at:
        words = [
            "curl",
            "-s",
            "-o",
            "/dev/null",
            "-w",
            "%{http_code}",
            "-d",
            "@-",
            "-H",
            f"x-api-key: {at.gateway.key}",
        ]
        for path in ("chat/completions", "messages", "responses"):
            command = at.gateway.wrap([*words, f"{at.gateway.url}/v1/{path}"])
            codes = [at.sandbox.run(command, seconds=60, stdin=body).output for body in MALFORMED]
            assert codes == [b"400"] * len(MALFORMED), path
        assert server.tally.requests == 0


def test_streams_hang_ups_and_broken_streams_are_counted_to_the_token(tmp_path: Path) -> None:
    def behave(number: int, body: Mapping[str, Any]) -> Any:
        if number == 1:
            return Cut()
        return Answer("a long answer", prompt=40, completion=12, cached=8, delay=1.0 if number > 1 else 0.0)

    streamed = {**PLAIN, "stream": True, "stream_options": {"include_usage": True}}
    with ModelServer(behave) as server, bench(tmp_path, server) as at:
        events = at.curl(streamed)
        assert "a long answer" in events and '"prompt_tokens": 40' in events and "data: [DONE]" in events
        at.curl(streamed, "-m", "0.3")
        at.curl(PLAIN, "-m", "0.3")
        deadline = time.monotonic() + 60
        while at.model.usage.steps < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.tally.served == 3 and server.tally.requests == 4
        at.assert_counted(server)
        assert all(stream for stream in (server.tally.bodies[0]["stream"], server.tally.bodies[1]["stream"]))


def test_fifty_requests_at_once_never_pass_a_budget_for_five(tmp_path: Path) -> None:
    quick = ModelServer(lambda number, body: Answer(prompt=30, completion=20))
    with quick as server, bench(tmp_path, server, Budget(steps=5)) as at:
        curl = "curl -s -o /dev/null -w '%{http_code}\\n' -H 'Content-Type: application/json'"
        asked = f"-H 'Authorization: Bearer {at.gateway.key}' -d '{json.dumps(PLAIN)}' {at.gateway.url}"
        command = f"for i in $(seq 50); do {curl} {asked}/v1/chat/completions & done; wait"
        done = at.sandbox.run(at.gateway.wrap(["bash", "-c", command]), seconds=120)
        codes = done.output.decode().split()
        assert (codes.count("200"), codes.count("403")) == (5, 45)
        assert server.tally.requests == 5
        at.assert_counted(server)
        with pytest.raises(BudgetExhausted):
            at.gateway.raise_failure()


def test_an_outage_is_told_to_the_harness_and_not_to_the_agent(tmp_path: Path) -> None:
    refusals = [Refusal(503, "secret detail of the provider")] * 40
    with ModelServer(refusals) as server, bench(tmp_path, server, patience_seconds=0.5) as at:
        status, answer = at.ask(PLAIN)
        assert status == 503 and "secret detail" not in json.dumps(answer)
        with pytest.raises(Fault, match="provider_error"):
            at.gateway.raise_failure()
    with ModelServer([Refusal(400, f"your tools are wrong, {KEY}")]) as server, bench(tmp_path, server) as at:
        status, answer = at.ask(PLAIN)
        assert status == 400 and "your tools are wrong" in answer["error"]["message"]
        assert KEY not in json.dumps(answer)
        at.gateway.raise_failure()


def test_a_call_under_way_at_the_end_is_charged(tmp_path: Path) -> None:
    slow = ModelServer(lambda number, body: Answer(delay=30))
    with slow as server, bench(tmp_path, server, Budget(tokens=10_000)) as at:
        hung = threading.Thread(target=at.curl, args=({**PLAIN, "max_tokens": 50},))
        hung.start()
        deadline = time.monotonic() + 60
        while not server.tally.requests and time.monotonic() < deadline:
            time.sleep(0.02)
        at.gateway.close()
        hung.join(60)
        assert at.model.usage.completion_tokens == 50
        assert json.loads(at.steps[-1].arguments or "")["flags"] == ["estimated"]


def test_a_long_path_makes_no_difference(tmp_path: Path) -> None:
    model = Model(ModelSpec("openai/x"), budget=BudgetMeter(Budget()), record=lambda step: None)
    path = tmp_path / ("a" * 120) / "s"
    gateway = Gateway(model, path)
    gateway.start()
    assert path.is_socket() and PORT == 4141
    gateway.close()
    assert not path.exists()
    with socket.socket(socket.AF_UNIX) as client, pytest.raises(OSError):
        client.connect(str(path)[-100:])
