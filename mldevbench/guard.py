"""The sandbox as an agent holds it: every act asks the budget first, and a broken limit ends the agent."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from mldevbench.errors import Fault
from mldevbench.model.budget import AgentStopped, BudgetMeter
from mldevbench.records import StopReason
from mldevbench.sandbox.protocol import Finished, Sandbox


class GuardedSandbox:
    """Wraps a sandbox; has the same protocol."""

    def __init__(self, sandbox: Sandbox, meter: BudgetMeter) -> None:
        self._sandbox = sandbox
        self._meter = meter
        self._breach: StopReason | None = None
        self._closing = threading.Lock()
        self._closed = False
        self.isolation = sandbox.isolation
        self.inside = sandbox.inside

    def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        keep_bytes: int = 65_536,
        environment: Mapping[str, str] | None = None,
        stop: threading.Event | None = None,
    ) -> Finished:
        self._meter.check()
        left = self._meter.remaining()
        bounds = [bound for bound in (seconds, left.seconds, left.wall_seconds) if bound is not None]
        try:
            done = self._sandbox.run(
                argv, seconds=min(bounds), stdin=stdin, keep_bytes=keep_bytes, environment=environment, stop=stop
            )
        except Fault:
            self._raise_breach()
            raise
        self._raise_breach()
        if done.timed_out:
            self._meter.check()
        return done

    def run_until(
        self,
        stop: threading.Event,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        keep_bytes: int = 65_536,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a command that calls its model itself: its waits don't count, so whoever watches it sets `stop`."""
        self._meter.check()
        left = self._meter.remaining().wall_seconds
        try:
            done = self._sandbox.run(
                argv, seconds=left, stdin=stdin, keep_bytes=keep_bytes, environment=environment, stop=stop
            )
        except Fault:
            self._raise_breach()
            raise
        self._raise_breach()
        return done

    def spawn(self, argv: Sequence[str], *, log: str) -> int:
        self._meter.check()
        try:
            return self._sandbox.spawn(argv, log=log)
        except Fault:
            self._raise_breach()
            raise

    def freeze(self) -> None:
        self._sandbox.freeze()

    def thaw(self) -> None:
        self._sandbox.thaw()

    def breach(self) -> StopReason | None:
        self._breach = self._breach or (None if self._closed else self._sandbox.breach())
        return self._breach

    def end(self) -> None:
        """End it from outside, whatever goes on inside."""
        self.breach()
        self.close()

    def close(self) -> None:
        with self._closing:
            if not self._closed:
                self.breach()
                self._sandbox.close()
                self._breach = self._breach or self._sandbox.breach()
                self._closed = True

    def _raise_breach(self) -> None:
        reason = self.breach()
        if reason:
            raise AgentStopped(reason)
        if self._closed:
            raise AgentStopped(StopReason.WALL_MINUTES)
