"""A study that needs GPUs on a cluster that has none yet: an autoscaler brings them.

Usage: growing.py PLUGINS FOLDER. To be run in network, process and mount namespaces of its own. The nodes are processes
of this machine; the head is one as `ray up` leaves it, with its configuration in the home folder.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent)]

from nodes import bring_loopback_up  # noqa: E402

from mldevbench.cache import cache_folder  # noqa: E402

PLUGINS, FOLDER = sys.argv[1], Path(sys.argv[2])
ADDRESS = "127.0.0.1:6379"  # fixed in Ray's provider
MEMORY = 4 << 30
COMMANDS = ("initialization", "setup", "head_setup", "worker_setup", "head_start_ray", "worker_start_ray")
CONFIG = {
    **{f"{kind}_commands": [] for kind in COMMANDS},
    "file_mounts": {},
    "cluster_synced_files": [],
    "auth": {},
    "cluster_name": "grown",
    "max_workers": 2,
    "idle_timeout_minutes": 5,
    "upscaling_speed": 1.0,
    "provider": {
        "type": "external",
        "module": "provider.Provider",
        "use_node_id_as_ip": True,
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
        "gcs_address": ADDRESS,
    },
    "head_node_type": "ray.head.default",
    "available_node_types": {
        "ray.head.default": {"resources": {"CPU": 1}, "node_config": {}, "max_workers": 0},
        "gpu": {
            "resources": {"CPU": 2, "GPU": 1, "memory": MEMORY},
            "node_config": {},
            "min_workers": 0,
            "max_workers": 2,
        },
    },
}
SETTINGS = {
    "PYTHONPATH": str(Path(__file__).parent),
    "RAY_FAKE_CLUSTER": "1",
    "AUTOSCALER_UPDATE_INTERVAL_S": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
}


def main() -> None:
    bring_loopback_up()
    os.environ["MLDEVBENCH_CACHE"] = str(cache_folder())
    os.environ["HOME"] = str(FOLDER)
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    config = FOLDER / "ray_bootstrap_config.yaml"
    config.write_text(json.dumps(CONFIG), encoding="utf-8")  # which is YAML too
    keep_to_ourselves(Path("/tmp/ray"))
    start_head(config)
    study = start("s", "--task", "one_gpu", "--seeds", "3")
    said = {"waiting": waiting(study), "said": study.communicate(timeout=400)[1], "code": study.returncode}
    refused = start("no", "--task", "two_gpu", "--profile", "full")
    said |= {"refused": refused.communicate(timeout=200)[1], "refused code": refused.returncode}
    (FOLDER / "said.json").write_text(json.dumps(said), encoding="utf-8")


def keep_to_ourselves(folder: Path) -> None:
    """Hide what Ray writes of this head from everybody else on this machine."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", str(folder)], check=True)


def start_head(config: Path) -> None:
    command = ["ray", "start", "--head", "--num-cpus=1", "--num-gpus=0", f"--autoscaling-config={config}"]
    command += ["--node-ip-address=127.0.0.1", "--port=6379", "--include-dashboard=false"]
    log = FOLDER / "head.log"
    with log.open("wb") as stream:
        done = subprocess.run(command, env={**os.environ, **SETTINGS}, stdout=stream, stderr=stream, check=False)
    if done.returncode:
        raise SystemExit(log.read_text(encoding="utf-8"))


def start(name: str, *words: str) -> subprocess.Popen[str]:
    base = ["--root", PLUGINS, "--agent", "watcher", "--sandbox", "bubblewrap", "--storage", str(FOLDER / "r")]
    return subprocess.Popen(
        [sys.executable, "-m", "cluster", *base, "--name", name, *words], cwd=FOLDER, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "RAY_ADDRESS": ADDRESS},
    )  # fmt: skip


def waiting(study: subprocess.Popen[str]) -> str:
    """Return what the status says while no run can start yet."""
    lease = FOLDER / "r" / "s" / "lease.json"
    while not lease.exists() and study.poll() is None:
        time.sleep(0.1)
    command = [sys.executable, "-m", "mldevbench", "status", "s", "--root", PLUGINS, "--storage", str(FOLDER / "r")]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    main()
