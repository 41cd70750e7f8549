"""A look at a cluster from where we are: which one it is, whether it answers, and what it has."""

from __future__ import annotations

import os
import socket
import tempfile
import urllib.parse
from pathlib import Path

from mldevbench.errors import UserError

REACH_SECONDS = 5.0


def inside_job() -> bool:
    return bool(os.environ.get("RAY_JOB_CONFIG_JSON_ENV_VAR"))


def cluster_here() -> str | None:
    """Return the address of a cluster that this machine is a node of; Ray's own file may tell of one that is gone."""
    file = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray" / "ray_current_cluster"
    address = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    return address if address and answers(address) else None


def answers(address: str) -> bool:
    """Tell whether anyone listens there; Ray itself would ask for minutes."""
    parsed = urllib.parse.urlsplit(address if "://" in address else f"//{address}")
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    try:
        with socket.create_connection((parsed.hostname or "127.0.0.1", port), REACH_SECONDS):
            return True
    except OSError:
        return False


def demand_answer(address: str) -> None:
    """Refuse an address where nobody listens."""
    if not answers(address):
        raise UserError(f"nobody answers at {address}; start it with 'ray start --head', or set --address right")


def describe(address: str) -> str:
    """Say what a cluster has; an address of http(s) is its job server."""
    demand_answer(address)
    if address.startswith("http"):
        from cluster.submit import Jobs

        jobs = Jobs(address)
        return (
            f"job server at {address} takes us, Ray {jobs.client.get_version()}; send studies with 'mldevbench submit'"
        )
    from cluster.session import session

    with session(address):
        import ray

        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    totals = [f"{sum(node.get(kind, 0.0) for node in nodes):g} {kind}s" for kind in ("CPU", "GPU")]
    return f"cluster at {address}: {len(nodes)} {'node' if len(nodes) == 1 else 'nodes'}, {', '.join(totals)}"
