"""A cluster's head with token authentication, and a person before it who submits, looks away, stops and comes again.

Usage: scene.py CHECKOUT STORAGE ANSWER, in namespaces of its own for network and processes.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "cluster")]
from nodes import bring_loopback_up  # noqa: E402 - the path comes first

CHECKOUT, STORAGE, ANSWER = (Path(word) for word in sys.argv[1:4])
TOKEN = secrets.token_hex(32)
STUDY = ["--name", "s", "--root", "mine", "--agent", "gated", "--param", f"gate={STORAGE.parent / 'gate'}",
         "--task", "quick", "--seeds", "3", "--gpus-per-run", "1", "--storage", str(STORAGE)]  # fmt: skip
STANDING = {'state="passed"': r"1\.0", 'state="running"': r"2\.0"}
DEADLINE = 240


def until(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(0.3)
    raise TimeoutError(str(look))


def server() -> str:
    return os.environ["SERVER"]


def ask(path: str) -> Any:
    request = urllib.request.Request(f"{server()}/api/{path}", headers={"Authorization": f"Bearer {TOKEN}"})
    try:
        return json.loads(urllib.request.urlopen(request, timeout=10).read())
    except OSError:
        return None


def start_head(number: int) -> subprocess.Popen[bytes] | None:
    """Start a head; Ray gives up on one whose agent is slow to come, as it is on a busy machine."""
    log = STORAGE.parent / "head.log"
    command = ["ray", "start", "--head", "--block", "--num-cpus=2", "--num-gpus=2", "--disable-usage-stats",
               "--node-ip-address=127.0.0.1", f"--port={6391 + number}", "--dashboard-host=127.0.0.1",
               f"--dashboard-port={8265 + number}"]  # fmt: skip
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream)
    until(lambda: process.poll() is not None or "Ray runtime started" in log.read_text(encoding="utf-8"))
    os.environ["SERVER"] = f"http://127.0.0.1:{8265 + number}"
    return process if process.poll() is None else None


@contextmanager
def head() -> Iterator[None]:
    process = next(found for number in range(8) if (found := start_head(number)))
    try:
        yield
    finally:
        process.kill()  # its children end with this namespace


def start(*words: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "mldevbench", "submit", *words, "--address", server()]
    return subprocess.Popen(
        command, cwd=CHECKOUT, env={**os.environ, **environment}, text=True, stdout=-1, stderr=subprocess.STDOUT,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a tester in the background ignores it
    )  # fmt: skip


def announced(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the line that names the job; Ray may have said something before."""
    assert process.stdout
    heard = ""
    for line in process.stdout:
        heard += line
        if match := re.search(r"^job (\S+) on", line):
            return line, match[1]
    raise AssertionError(f"no job was named: {heard}")


def ended(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate(timeout=DEADLINE)
    return {"code": process.returncode, "out": out}


def metrics() -> str:
    """Read what the head's node agent tells Prometheus."""
    for path in STORAGE.parent.glob("ray/ray/prom_metrics_service_discovery.json"):
        for target in [one for group in json.loads(path.read_text(encoding="utf-8")) for one in group["targets"]]:
            try:
                text = urllib.request.urlopen(f"http://{target}/metrics", timeout=10).read().decode()
            except OSError:
                continue
            # Ray exports every ten seconds, so what is there first may be old.
            if all(re.search(rf"mldevbench_runs{{.*{state}.* {value}", text) for state, value in STANDING.items()):
                return "\n".join(line for line in text.splitlines() if "mldevbench" in line)
    return ""


def play() -> dict[str, Any]:
    said: dict[str, Any] = {}
    said["stranger"] = ended(start(*STUDY, RAY_AUTH_MODE="disabled", RAY_AUTH_TOKEN_PATH="", HOME=str(CHECKOUT)))
    first = start(*STUDY)
    said["line"], job = announced(first)
    until((STORAGE / "s" / "runs" / "part-00000.parquet").exists)  # the first result
    first.send_signal(signal.SIGINT)
    said["detached"] = ended(first)
    said["still"] = ask(f"jobs/{job}")
    follower = start("--attach", job)
    said["metrics"] = until(metrics)
    subprocess.run(["ray", "job", "stop", job, "--address", server()], capture_output=True, check=True)
    said["stopped"] = ended(follower)
    (STORAGE.parent / "gate").touch()
    edited = CHECKOUT / "cluster" / "progress.py"
    edited.write_text(
        edited.read_text(encoding="utf-8").replace('f"{row.outcome:7} ', 'f"EDITED {row.outcome:7} '), "utf-8"
    )
    said["again"] = ended(start(*STUDY))
    said["relative"] = ended(start("--attach", literal_job("relative")))
    said["literal"] = ended(start("--attach", literal_job("literal", "--name", "l", "--storage", str(STORAGE))))
    said["jobs"] = json.dumps(ask("jobs/"))
    said["token"] = TOKEN
    return said


def literal_job(name: str, *words: str) -> str:
    """Submit by Ray's own command, as ray_configs/README.md does; with no more words its storage would be lost."""
    command = ["ray", "job", "submit", "--address", server(), "--runtime-env", "ray_configs/job.yaml", "--no-wait",
               "--submission-id", name, "--working-dir", ".", "--",
               "python", "-m", "cluster", "--agent", "oracle", "--task", "hello_world", *words]  # fmt: skip
    subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=True)
    return name


if __name__ == "__main__":
    bring_loopback_up()
    token = STORAGE.parent / "token"
    token.write_text(TOKEN, encoding="ascii")
    token.chmod(0o600)
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token), "RAY_USAGE_STATS_ENABLED": "0"}
    os.environ |= {"RAY_worker_niceness": "0"}  # on a busy machine they would hardly be served
    with head():
        ANSWER.write_text(json.dumps(play()), encoding="utf-8")
