"""The one event loop of a process, however many threads ask for it first."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from mldevbench.model import loop


def test_threads_that_come_first_get_the_same_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    make, made = asyncio.new_event_loop, []

    def slowly() -> asyncio.AbstractEventLoop:
        time.sleep(0.1)
        made.append(make())
        return made[-1]

    monkeypatch.setattr(asyncio, "new_event_loop", slowly)
    loop._started_loop.cache_clear()
    try:
        with ThreadPoolExecutor(8) as pool:
            found = set(pool.map(lambda _: loop.shared_loop(), range(8)))
        assert found == set(made) and len(made) == 1
    finally:
        loop._started_loop.cache_clear()
        for one in made:
            one.call_soon_threadsafe(one.stop)
            while one.is_running():
                time.sleep(0.01)
            one.close()
