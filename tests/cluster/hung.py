"""Freeze a node in the middle of a study, and let its agent go on when nobody waits for it any more.

Usage: hung.py PLUGINS FOLDER. To be run in network, process and mount namespaces of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

from nodes import bring_loopback_up, give_nodes_time  # noqa: E402
from support import offspring  # noqa: E402

from mldevbench.records import AttemptRow  # noqa: E402
from mldevbench.store.place import open_place  # noqa: E402
from mldevbench.store.study_store import StudyStore  # noqa: E402

PLUGINS, FOLDER = sys.argv[1], Path(sys.argv[2])
GATE = FOLDER / "gate"
SEEDS = 5
# A frozen node is taken for dead after about five seconds, not after a minute; a busy one isn't.
QUICK = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 1000, "health_check_timeout_ms": 4000}


def main() -> None:
    bring_loopback_up()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    from cluster.bare import bare

    give_nodes_time()
    head = {"num_cpus": 1, "num_gpus": 0, "include_dashboard": False}
    head["_system_config"] = {**QUICK, "health_check_failure_threshold": 2}
    with bare():
        cluster = Cluster(initialize_head=True, head_node_args=head)
        node = cluster.add_node(num_cpus=1, num_gpus=0)
    try:
        raylet = node.all_processes["raylet"][0].process.pid
        said = freeze(start(str(cluster.address)), raylet)
    finally:
        cluster.shutdown()
    (FOLDER / "said.json").write_text(json.dumps(said), encoding="utf-8")


def start(address: str) -> subprocess.Popen[str]:
    words = ["--root", PLUGINS, "--agent", "gated", "--param", f"gate={GATE}", "--task", "quick", "--seeds", str(SEEDS)]
    words += ["--name", "s", "--storage", str(FOLDER / "r"), "--sandbox", "bubblewrap"]
    return subprocess.Popen(
        [sys.executable, "-m", "cluster", *words], cwd=FOLDER, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "RAY_ADDRESS": address},
    )  # fmt: skip


def freeze(study: subprocess.Popen[str], raylet: int) -> dict[str, object]:
    wait_for(lambda: len(list(FOLDER.glob("gate.*"))) == 2, study)  # both agents are at work, not just about to be
    node = [raylet, *offspring(raylet)]
    workers = [pid for pid, title in offspring(raylet).items() if title.startswith("ray::RunWorker")]
    sent(signal.SIGSTOP, node)
    began = time.monotonic()
    wait_for(lambda: any(row.phase == "lost" for row in attempts()), study)
    lost = time.monotonic() - began
    # Only the node's own process stays frozen: what it ran goes on, ends, and answers a driver that has work left.
    sent(signal.SIGSTOP, [study.pid])
    sent(signal.SIGCONT, node[1:])
    GATE.touch()
    late = handed_in_late()
    sent(signal.SIGCONT, [study.pid])
    _, words = study.communicate(timeout=200)
    sent(signal.SIGCONT, node)
    return {"code": study.returncode, "said": words, "lost after": lost, "workers": len(workers), "late": late}


def handed_in_late() -> bool:
    """Wait for what an attempt hands in that has been given up."""
    (run_id,) = (row.run_id for row in attempts() if row.phase == "lost")
    deadline = time.monotonic() + 40
    while not (there := (FOLDER / "r" / "s" / "artifacts" / run_id / "1" / "submission.tar").exists()):
        if time.monotonic() > deadline:
            break
        time.sleep(0.1)
    return there


def attempts() -> list[AttemptRow]:
    return list(StudyStore(open_place(str(FOLDER / "r" / "s"))).attempts.all())


def wait_for(condition: Callable[[], bool], study: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 200
    while not condition():
        if study.poll() is not None or time.monotonic() > deadline:
            study.kill()
            raise SystemExit(f"the study ended too early or too late: {study.communicate()[1]}")
        time.sleep(0.1)


def sent(number: signal.Signals, pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
