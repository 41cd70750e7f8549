"""The limiter as an actor, on simulated nodes, with a server that takes five calls at once."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from model.server import Answer, ModelServer

from cluster.bare import bare
from mldevbench.model.limiter import Outcome, Permit
from mldevbench.model.loop import wait_for
from mldevbench.model.spec import ModelSpec

pytestmark = pytest.mark.slow

NODES, RUNS, CALLS, PLACES = 4, 32, 5, 5
ANSWER_SECONDS = 0.5
KEY = "sk-planted-in-a-test-0123456789"


@pytest.fixture(scope="module")
def nodes() -> Iterator[Any]:
    """Start Ray with a head and three more nodes on this machine."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    import ray
    from ray.cluster_utils import Cluster

    with bare():
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        for _ in range(NODES - 1):
            cluster.add_node(num_cpus=1)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers can't import a test
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    yield ray
    ray.shutdown()
    cluster.shutdown()


def node_of_runs(spec: ModelSpec, runs: int, calls: int) -> list[tuple[int, int]]:
    """Let runs call one after another, all at once, as those of one node; return each one's steps and tries."""
    import json

    from cluster.limiter import connect
    from mldevbench.model.budget import BudgetMeter
    from mldevbench.model.door import Model
    from mldevbench.model.library import library
    from mldevbench.records import Budget, Step

    def model_for(taken: list[Step]) -> Model:
        return Model(spec, budget=BudgetMeter(Budget()), pacer=connect(spec), record=taken.append)

    async def one(model: Model) -> None:
        for _ in range(calls):
            await model.acomplete([{"role": "user", "content": "go"}])

    async def all_of_them() -> None:
        await asyncio.gather(*(one(model) for model in models))

    library()
    steps: list[list[Step]] = [[] for _ in range(runs)]
    models = [model_for(taken) for taken in steps]
    wait_for(all_of_them())
    return [
        (model.usage.steps, sum(json.loads(step.arguments or "")["tries"] for step in taken))
        for model, taken in zip(models, steps, strict=True)
    ]


def test_thirty_two_runs_share_five_places(nodes: Any) -> None:
    """No call is lost or made twice; how fast it goes is shown in simulated time, where no neighbour matters."""
    work = nodes.remote(num_cpus=1, max_retries=0)(node_of_runs)
    with ModelServer(lambda number, body: Answer(delay=ANSWER_SECONDS), at_most=PLACES, retry_after="0.5") as server:
        spec = ModelSpec("openai/tested", api_base=server.base, key=KEY, patience_seconds=200)
        results = nodes.get([work.remote(spec, RUNS // NODES, CALLS) for _ in range(NODES)], timeout=250)
        tally = server.tally
    flat = [pair for node in results for pair in node]
    assert [steps for steps, _ in flat] == [CALLS] * RUNS
    assert sum(tries for _, tries in flat) == tally.requests == RUNS * CALLS + tally.refused
    assert tally.refused <= 8


def test_the_limiter_is_shared_by_name_and_ends_itself(nodes: Any) -> None:
    from cluster.limiter import NAMESPACE, SharedPacer, limiter_actor, limiter_name

    spec = ModelSpec("openai/other", key=KEY + "-2", concurrency=2)
    actor = limiter_actor(spec, idle_seconds=3.0)
    assert limiter_actor(spec) == actor
    assert KEY not in limiter_name(spec)
    first, second = SharedPacer(spec, actor), SharedPacer(spec, actor)

    async def crowd() -> None:
        held = [await first.acquire(1), await second.acquire(1)]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await first.acquire(1)
        await second.release(held[1], Outcome.OK)
        async with asyncio.timeout(20):
            await first.release(await first.acquire(1), Outcome.OK)
        await first.release(held[0], Outcome.OK)

    wait_for(crowd())
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            nodes.get_actor(limiter_name(spec), namespace=NAMESPACE)
        except ValueError:
            return
        time.sleep(0.2)
    pytest.fail("the idle limiter still lives")


def test_without_the_limiter_calls_go_on_one_at_a_time(nodes: Any) -> None:
    from cluster.limiter import connect, limiter_actor

    spec = ModelSpec("openai/third", key=KEY + "-3")
    pacers = [connect(spec) for _ in range(6)]
    nodes.kill(limiter_actor(spec))
    inside = most = 0

    async def call(pacer: Any) -> None:
        nonlocal inside, most
        permit = await pacer.acquire(1)
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.02)
        inside -= 1
        await pacer.release(permit, Outcome.OK)

    async def crowd() -> None:
        async with asyncio.timeout(60):
            await asyncio.gather(*(call(pacer) for pacer in pacers))
            assert most == 1
            await asyncio.gather(*(call(pacer) for pacer in pacers))

    wait_for(crowd())
    assert most > 1, "a new limiter is found again"


def test_a_permit_that_comes_after_its_caller_has_left_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word that a caller has left may reach the actor after the permit has been granted."""
    from cluster.limiter import SharedPacer

    monkeypatch.setattr("ray.cancel", lambda reference: None)

    async def leave_too_late() -> list[tuple[Any, ...]]:
        granted, returned = asyncio.get_running_loop().create_future(), []
        actor = SimpleNamespace(
            acquire=SimpleNamespace(remote=lambda *_: granted),
            release=SimpleNamespace(remote=lambda *words: returned.append(words)),
        )
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await SharedPacer(spec, actor).acquire(1)
        granted.set_result(permit)
        await asyncio.sleep(0.01)
        return returned

    spec, permit = ModelSpec("openai/fourth", key=KEY), Permit(7, 1)
    assert asyncio.run(leave_too_late()) == [(spec.name, spec.pace, permit, Outcome.FAILED, None)]
