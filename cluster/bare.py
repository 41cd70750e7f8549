"""Ray's start without what nobody uses on one machine for the time of one study: seconds, and memory."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SPARED = ("start_api_server", "start_monitor", "start_log_monitor")  # the page, the autoscaler, the reader of logs
AGENTS = {  # what a raylet wants beside it, with the ports that it waits for
    "--dashboard_agent_command=": ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port"),
    "--runtime_env_agent_command=": ("runtime_env_agent_port",),
}
STAND_IN = "cat"  # ends with the raylet's pipe, as an agent does


@contextmanager
def bare() -> Iterator[None]:
    """Let Ray start with nothing but what runs actors; a runtime environment can't be had then."""
    from ray._private import services, utils
    from ray._private.node import Node

    start = services.start_ray_process

    def start_without_agents(command: list[str], *rest: Any, **named: Any) -> Any:
        return start([_without_agent(word) for word in command], *rest, **named)

    changes: list[tuple[Any, str, Any]] = [
        *((Node, name, lambda *_, **__: None) for name in SPARED),
        (utils, "get_dashboard_dependency_error", lambda: ImportError("not wanted")),  # else it imports them to see
        (services, "start_ray_process", start_without_agents),
    ]
    kept = [(owner, name, getattr(owner, name)) for owner, name, _ in changes]
    try:
        for owner, name, other in changes:
            setattr(owner, name, other)
        yield
    finally:
        for owner, name, own in kept:
            setattr(owner, name, own)


def _without_agent(word: str) -> str:
    """Put another program in an agent's place, and tell the raylet that it has no ports."""
    for option, ports in AGENTS.items():
        if word.startswith(option):
            said = dict(part.split("=", 1) for part in shlex.split(word.removeprefix(option)) if "=" in part)
            for port in ports:
                Path(said["--session-dir"], f"{port}_{said['--node-id']}").write_text("-1", encoding="utf-8")
            return option + STAND_IN
    return word
