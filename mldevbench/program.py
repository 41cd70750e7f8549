"""A third-party program inside the sandbox: it runs until it ends, its budget does, or its model is lost."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mldevbench.command import AGENT_FOLDER
from mldevbench.guard import GuardedSandbox
from mldevbench.model.budget import BudgetExhausted, BudgetMeter
from mldevbench.records import StopReason
from mldevbench.sandbox.protocol import Finished

if TYPE_CHECKING:
    from mldevbench.model.gateway import Gateway

LOOK_SECONDS = 0.1
GRACE_SECONDS = 20.0  # for a program that has heard that its budget is used up, to put its things in order


class Programs:
    """Runs programs for one attempt; `python` is the agent's own, as it is seen inside."""

    def __init__(self, sandbox: GuardedSandbox, meter: BudgetMeter, gateway: Gateway, python: str | None) -> None:
        self.python = python
        self._sandbox, self._meter, self._gateway = sandbox, meter, gateway

    @property
    def environment(self) -> dict[str, str]:
        """The gateway's address and the run's own key, under the names that clients look for."""
        url, key = self._gateway.url, self._gateway.key
        return {
            "GATEWAY_URL": url,
            "GATEWAY_KEY": key,
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": key,
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": key,
        }

    def drive(self, script: str, settings: Mapping[str, Any], *, spare_seconds: float = 0.0) -> Finished:
        """Run a script of the agent's folder by the agent's own Python; it reads its settings from standard input.

        One that breaks by itself is the agent's failure, with the last thing that it said. It is ended while the
        budget still has `spare_seconds`, for what its agent wants to do then.
        """
        assert self.python is not None, "agent.yaml names no venv"
        done = self.run(
            [self.python, "-I", f"{AGENT_FOLDER}/{script}"],
            stdin=json.dumps(settings).encode(),
            environment=self.environment,
            spare_seconds=spare_seconds,
        )
        if done.exit_code:
            said = done.output.decode(errors="replace").strip().splitlines()
            raise RuntimeError(f"{script} ended with {done.exit_code}: {said[-1] if said else 'nothing said'}")
        return done

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        keep_bytes: int = 65_536,
        spare_seconds: float = 0.0,
    ) -> Finished:
        """Run a program with the gateway in reach; raises what stopped it, if it didn't end by itself."""
        stop, ended = threading.Event(), threading.Event()
        watch = threading.Thread(target=self._watch, args=(stop, ended, spare_seconds), name="program", daemon=True)
        watch.start()
        try:
            done = self._sandbox.run_until(
                stop, self._gateway.wrap(argv), stdin=stdin, keep_bytes=keep_bytes, environment=environment
            )
        finally:
            ended.set()
            watch.join()
        self._gateway.raise_failure()
        self._meter.check()
        if done.timed_out:
            wall = self._meter.remaining().wall_seconds <= spare_seconds
            raise BudgetExhausted(StopReason.WALL_MINUTES if wall else StopReason.MINUTES)
        return done

    def _watch(self, stop: threading.Event, ended: threading.Event, spare_seconds: float) -> None:
        """Set `stop` when the working time is up, or when the program outlives its model."""
        patience = GRACE_SECONDS
        while not ended.wait(LOOK_SECONDS):
            left = self._meter.remaining()
            patience = patience - LOOK_SECONDS if self._gateway.over else GRACE_SECONDS
            seconds = left.wall_seconds if left.seconds is None else min(left.seconds, left.wall_seconds)
            if patience <= 0 or seconds <= spare_seconds:
                stop.set()
                return
