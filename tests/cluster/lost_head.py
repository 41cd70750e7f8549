"""Kill the head of a cluster under a study, and run the same command again on another cluster.

Usage: lost_head.py PLUGINS FOLDER. To be run in network, process and mount namespaces of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent)]

from nodes import bring_loopback_up, give_nodes_time  # noqa: E402

PLUGINS, FOLDER = sys.argv[1], Path(sys.argv[2])
GATE = FOLDER / "gate"
HEAD = {"num_cpus": 2, "num_gpus": 0, "include_dashboard": False}


def main() -> None:
    bring_loopback_up()
    # How long a driver waits for a head that is gone; Ray's own patience is a minute.
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_gcs_rpc_server_reconnect_timeout_s": "15"}
    from ray.cluster_utils import Cluster

    from cluster.bare import bare

    give_nodes_time()
    with bare():
        cluster = Cluster(initialize_head=True, head_node_args=dict(HEAD))
    study = start(cluster)
    wait_for_rows(study)
    began = time.monotonic()
    head: Any = cluster.head_node
    for infos in head.all_processes.values():
        for info in infos:
            info.process.kill()
    said = {"said": study.communicate(timeout=300)[1], "code": study.returncode, "seconds": time.monotonic() - began}
    GATE.touch()
    with bare():
        other = Cluster(initialize_head=True, head_node_args=dict(HEAD))
    try:
        again = start(other)
        said |= {"again said": again.communicate(timeout=300)[1], "again": again.returncode}
    finally:
        other.shutdown()
    (FOLDER / "said.json").write_text(json.dumps(said), encoding="utf-8")


def start(cluster: Any) -> subprocess.Popen[str]:
    words = ["--root", PLUGINS, "--agent", "gated", "--param", f"gate={GATE}", "--task", "quick", "--seeds", "3"]
    words += ["--name", "s", "--storage", str(FOLDER / "r"), "--sandbox", "bubblewrap"]
    return subprocess.Popen(
        [sys.executable, "-m", "cluster", *words], cwd=FOLDER, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "RAY_ADDRESS": cluster.address},
    )  # fmt: skip


def wait_for_rows(study: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while not list(FOLDER.glob("r/s/runs/*.parquet")) and study.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)


if __name__ == "__main__":
    main()
