"""The event loop of this process that all model calls share."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_once = threading.Lock()


def shared_loop() -> asyncio.AbstractEventLoop:
    """Return the one loop; connections to providers are kept open in it."""
    with _once:  # the cache alone would let two threads that come first start one each
        return _started_loop()


@functools.cache
def _started_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="model-calls", daemon=True).start()
    return loop


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the shared loop and wait for it from another thread."""
    future = asyncio.run_coroutine_threadsafe(coroutine, shared_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise
