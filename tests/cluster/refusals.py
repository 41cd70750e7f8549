"""Play, on one simulated cluster, what can't work and what must not disturb each other; tell how each call ended.

Usage: refusals.py PLUGINS FOLDER. To be run in network, process and mount namespaces of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent)]

from nodes import bring_loopback_up, give_nodes_time  # noqa: E402

PLUGINS, FOLDER = sys.argv[1:3]
LATE = 30  # runs: long enough for a node to join
BASE = ["--root", PLUGINS, "--agent", "watcher", "--task", "quick", "--sandbox", "bubblewrap"]


def start(address: str, *words: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "cluster", *BASE, *words]
    if "--storage" not in words:
        command += ["--storage", f"{FOLDER}/r"]
    return subprocess.Popen(
        command, cwd=FOLDER, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        env={**os.environ, "RAY_ADDRESS": address, **(environment or {})},
    )  # fmt: skip


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    _, said = process.communicate(timeout=400)
    return {"code": process.returncode, "said": said}


def small_disk(name: str, *options: str) -> str:
    folder = Path(FOLDER) / name
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(["size=1m", *options]), "tmpfs", str(folder)], check=True)
    return str(folder)


def agent_with_packages() -> str:
    """Return an agent that nobody has installed."""
    folder = Path(FOLDER) / "packed"
    folder.mkdir()
    text = 'version: 1\nsummary: x\nneeds_model: false\ntrusted: true\ncommand: {run: ["true"]}\n'
    venv = f'venv: {{python: "{sys.version_info[0]}.{sys.version_info[1]}"}}\n'
    (folder / "agent.yaml").write_text(text + venv, encoding="utf-8")
    (folder / "requirements.txt").write_text(f"none-such-{os.getpid()}==1\n", encoding="utf-8")
    return str(folder)


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while not list(path.parent.glob(path.name)) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)


def main() -> None:
    bring_loopback_up()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    from cluster.bare import bare

    give_nodes_time()
    with bare():
        head = {"num_cpus": 2, "num_gpus": 1, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
    at, said = str(cluster.address), {}
    try:
        refused = {
            "gpus": ["--gpus-per-run", "2", "--profile", "full"],
            "label": ["--gpus-per-run", "1", "--gpu-type", "zone=mars"],
            "share": ["--gpus-per-run", "0.5"],
            "full storage": ["--storage", small_disk("full")],
            "no rights": ["--storage", small_disk("readonly", "ro")],
            "full scratch": ["--scratch", small_disk("small")],
            "agent": ["--agent", agent_with_packages(), "--no-install"],
        }
        for name, words in refused.items():
            said[name] = ended(start(at, *words))
        said["relative"] = ended(start(at, "--storage", "r", environment={"RAY_JOB_CONFIG_JSON_ENV_VAR": "{}"}))
        said |= two_at_once(at)
        said |= beside_a_dead_node(cluster)
        said |= without_sandbox(cluster)
        said |= with_a_storage_of_its_own(at)
    finally:
        cluster.shutdown()
    Path(FOLDER, "said.json").write_text(json.dumps(said), encoding="utf-8")


def two_at_once(at: str) -> dict[str, Any]:
    first, second = (start(at, "--name", name, "--seeds", "6") for name in ("first", "second"))
    wait_for(Path(FOLDER, "r", "first", "lease.json"), first)
    again = ended(start(at, "--name", "first", "--seeds", "6"))
    return {"again": again, "first": ended(first), "second": ended(second)}


def beside_a_dead_node(cluster: Any) -> dict[str, Any]:
    """A study begins while Ray still lists a node that has just died."""
    cluster.add_node(num_cpus=2).kill_raylet()
    return {"bereft": ended(start(cluster.address, "--name", "bereft", "--seeds", "2"))}


def without_sandbox(cluster: Any) -> dict[str, Any]:
    """A node without bwrap joins a study that runs, then one is begun while it is there."""
    study = start(cluster.address, "--name", "late", "--seeds", str(LATE))
    wait_for(Path(FOLDER, "r", "late", "attempts", "*.parquet"), study)
    with odd_node(cluster.address, "mount --bind /dev/null $(command -v bwrap)"):
        return {"late": ended(study), "no sandbox": ended(start(cluster.address, "--name", "no"))}


def with_a_storage_of_its_own(at: str) -> dict[str, Any]:
    """A node has a folder of the storage's name, but it isn't the same."""
    folder = Path(FOLDER, "alone")
    folder.mkdir()
    before = living(at)
    with odd_node(at, f"mount -t tmpfs tmpfs {folder}"):
        deadline = time.monotonic() + 200
        while living(at) <= before and time.monotonic() < deadline:
            time.sleep(1)
        return {"not shared": ended(start(at, "--storage", str(folder)))}


def living(at: str) -> int:
    """Return how many nodes a driver would find there now."""
    look = f"import ray; ray.init('{at}', logging_level='ERROR'); print(sum(one['Alive'] for one in ray.nodes()))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


@contextmanager
def odd_node(address: str, changed: str) -> Iterator[None]:
    """Let a node join whose file system was changed by a command."""
    ray = Path(sys.executable).parent / "ray"
    ports = "--dashboard-agent-listen-port 0 --min-worker-port 0 --max-worker-port 0"
    joined = f"exec {ray} start --address {address} --block --num-cpus 4 --num-gpus 0 {ports}"
    command = ["unshare", "--mount", "bash", "-c", f"{changed} && {joined}"]
    node = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        node.terminate()
        node.wait(60)


if __name__ == "__main__":
    main()
