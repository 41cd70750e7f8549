"""Run a command on a simulated cluster that only this process can reach.

Usage: nodes.py NODES CPUS GPUS COMMAND…, with DASHBOARD=1 for jobs. To be run in a network namespace of its own
(`unshare --net`): Ray listens on every interface, and there the only one is loopback.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from contextlib import nullcontext

UP = 0x1
SIOCSIFFLAGS = 0x8914


def bring_loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh", b"lo", UP))


class SlowClock:
    """The module `time` with a monotonic clock that goes ten times slower."""

    def __getattr__(self, name: str) -> object:
        return getattr(time, name)

    def monotonic(self) -> float:
        return time.monotonic() / 10


def give_nodes_time() -> None:
    """Let a node take longer to start than the half minute that Ray has fixed: a busy machine is no failure."""
    import ray._private.node

    ray._private.node.time = SlowClock()


def main() -> None:
    count, cpus, gpus = (int(word) for word in sys.argv[1:4])
    bring_loopback_up()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    from cluster.bare import bare

    give_nodes_time()
    dashboard = bool(os.environ.pop("DASHBOARD", ""))
    head = {"num_cpus": cpus, "num_gpus": gpus, "include_dashboard": dashboard, "dashboard_host": "127.0.0.1"}
    with nullcontext() if dashboard else bare():
        cluster = Cluster(initialize_head=True, head_node_args=head)
        for _ in range(count - 1):
            cluster.add_node(num_cpus=cpus, num_gpus=gpus)
    try:
        process = subprocess.Popen(sys.argv[4:], env={**os.environ, "RAY_ADDRESS": cluster.address})
        signal.signal(signal.SIGTERM, lambda number, frame: process.terminate())
        code = process.wait()
    finally:
        cluster.shutdown()
    raise SystemExit(code)


if __name__ == "__main__":
    main()
