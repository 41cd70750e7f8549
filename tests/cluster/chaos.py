"""A storm over a study: actors, nodes and the driver are killed at random; what comes out must be as if nothing was.

Usage: chaos.py [--seed N] [--minutes M]. Starts itself again in namespaces of its own, so nothing can outlive it.
Prints the seed first and what was seen last, as JSON; exits with 0 if every promise was kept.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from model.server import Answer, ModelServer  # noqa: E402
from nodes import bring_loopback_up, give_nodes_time  # noqa: E402

from mldevbench.records import RunRow  # noqa: E402
from mldevbench.store.place import open_place  # noqa: E402
from mldevbench.store.study_store import StudyStore  # noqa: E402
from mldevbench.trajectory import stored_steps  # noqa: E402

INSIDE = "MLDEVBENCH_CHAOS_INSIDE"
CALLS = 3
OURS = re.compile(r"ray::(RunWorker|ValidationWorker)|bwrap|zygote|starter")
ABSENT = {"Z", "X"}


@dataclass(frozen=True)
class Storm:
    """What happens when this share of the study is done: of what agents do for run actors, of the table for others."""

    acts: tuple[tuple[float, str], ...]

    @staticmethod
    def drawn(seed: int, strength: int) -> Storm:
        """Draw the moments; the kinds are always all there."""
        dice = random.Random(seed)
        kinds = ["run actor"] * 4 * strength + ["validation actor"] * 3 * strength
        kinds += ["node for ever", "node for a while", "driver", "driver"]
        return Storm(tuple(sorted((dice.uniform(0.03, 0.8), kind) for kind in kinds)))


@dataclass
class Scene:
    """The simulated cluster with everything that is to be seen of it."""

    seed: int
    folder: Path
    cluster: Any
    server: ModelServer
    plugins: Path
    runs: int
    doomed: list[Any]
    happened: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)  # what the study's end came before
    codes: list[int] = field(default_factory=list)
    returning: subprocess.Popen[bytes] | None = None

    def command(self, name: str) -> list[str]:
        words = ["--name", name, "--root", self.plugins, "--agent", "worker", "--agent", "asker=openai/tested"]
        words += [
            "--price",
            "openai/tested=1,2",
            "--api-base",
            self.server.base,
            "--task",
            "quick",
            "--void-retries",
            9,
        ]
        words += ["--storage", self.folder / "r", "--seeds", self.runs // 2, "--scratch", self.folder / "scratch"]
        words += ["--param", f"asker.calls={CALLS}", "--sandbox", "bubblewrap"]
        return [sys.executable, "-m", "cluster", *(str(word) for word in words)]

    def start(self, name: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "RAY_ADDRESS": self.cluster.address, "OPENAI_API_KEY": "sk-none-0123456789abcdef"}
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(self.command(name), stdout=log, stderr=log, env=environment, cwd=self.folder)

    def store(self, name: str) -> StudyStore:
        return StudyStore(open_place(str(self.folder / "r" / name)))

    def rows(self, name: str) -> list[RunRow]:
        return list(self.store(name).runs.all())

    def done(self, name: str) -> tuple[float, float]:
        """Return which share of the runs has been submitted by its agent, and which has been judged."""
        if not (self.folder / "r" / name / "study.yaml").exists():
            return 0.0, 0.0
        submitted = {one.run_id for one in self.store(name).attempts.all() if one.finished_at and one.outcome != "void"}
        return len(submitted) / self.runs, len(self.rows(name)) / self.runs


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=0.0, help="go on with further storms for so long")
    parser.add_argument("--runs", type=int, default=64)
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10_000)
    if INSIDE not in os.environ:
        words = [sys.executable, __file__, "--seed", seed, "--minutes", asked.minutes, "--runs", asked.runs]
        alone = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
        return subprocess.run([*alone, *(str(word) for word in words)], env={**os.environ, INSIDE: "1"}).returncode
    print(f"chaos seed {seed}", flush=True)
    until = time.monotonic() + asked.minutes * 60
    while True:
        kept = one_storm(seed, asked.runs, strength=1 if not asked.minutes else 3)
        if not kept or time.monotonic() >= until:
            return 0 if kept else 1
        seed += 1


def one_storm(seed: int, runs: int, strength: int) -> bool:
    bring_loopback_up()
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    from cluster.bare import bare

    give_nodes_time()
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    plugins = Path(shutil.copytree(HERE.parent / "plugins", folder / "plugins"))
    pause = plugins / "tasks/trial/quick/hidden/pause"  # so that judges are hit at their work
    pause.parent.mkdir(exist_ok=True)
    pause.write_text("0.2", encoding="utf-8")
    head = {"num_cpus": 2, "num_gpus": 0, "include_dashboard": False}
    with bare():
        cluster = Cluster(initialize_head=True, head_node_args=head)
        doomed = [cluster.add_node(num_cpus=2, num_gpus=0) for _ in range(2)]
    asked: list[tuple[float, str]] = []

    def answer(number: int, body: Mapping[str, Any]) -> Answer:
        asked.append((time.time(), json.dumps(body)))
        return Answer(delay=0.1)

    with ModelServer(answer) as server:
        scene = Scene(seed, folder, cluster, server, plugins, runs, doomed)
        try:
            calm = scene.start("calm").wait()
            asked.clear()
            storm(scene, Storm.drawn(seed, strength))
            found = findings(scene, calm, asked)
        finally:
            if scene.returning:
                scene.returning.terminate()
                scene.returning.wait(60)
            cluster.shutdown()
            bury(scene.doomed)
    found["left after all"] = left_over(lambda title: True, seconds=150)
    print(json.dumps({"seed": seed, "happened": scene.happened, "codes": scene.codes, "broken": found}), flush=True)
    kept = not any(found.values())
    if kept:
        shutil.rmtree(folder, ignore_errors=True)
    return kept


def storm(scene: Scene, plan: Storm) -> None:
    """Let each thing happen at its share of the study, and start the driver again whenever it is gone."""
    dice = random.Random(scene.seed + 1)
    process, coming = scene.start("storm"), list(plan.acts)
    while True:
        code = process.poll()
        if code is not None:
            scene.codes.append(code)
            if code == 0 or len(scene.codes) > 6:
                scene.missed = [kind for _, kind in coming]
                return
            process = scene.start("storm")
        submitted, judged = scene.done("storm")
        for share, kind in list(coming):
            done = submitted if kind == "run actor" else judged
            if share <= done and act(scene, kind, dice, process):
                coming.remove((share, kind))
                scene.happened.append(f"{share:.2f} {kind}")
        time.sleep(0.05)


def act(scene: Scene, kind: str, dice: random.Random, process: subprocess.Popen[bytes]) -> bool:
    """Let one thing happen; False if there is no such actor at this moment."""
    if kind == "driver":
        process.kill()
        process.wait()
    elif kind == "node for ever":
        kill_node(scene, scene.doomed[0])
    elif kind == "node for a while":
        kill_node(scene, scene.doomed[1])
        scene.returning = come_back(scene)
    else:
        title = {"run actor": "ray::RunWorker", "validation actor": "ray::ValidationWorker"}[kind]
        pids = sorted(pid for pid, words in processes().items() if words.startswith(title))
        if not pids:
            return False
        kill(dice.choice(pids))
    return True


def come_back(scene: Scene) -> subprocess.Popen[bytes]:
    """Start a node beside the study, as an autoscaler would, and don't wait for it."""
    ports = ["--dashboard-agent-listen-port", "0", "--min-worker-port", "0", "--max-worker-port", "0"]
    command = [str(Path(sys.executable).parent / "ray"), "start", "--address", scene.cluster.address, "--block", *ports]
    with (scene.folder / "node.log").open("ab") as log:
        return subprocess.Popen([*command, "--num-cpus", "2", "--num-gpus", "0"], stdout=log, stderr=log)


def kill_node(scene: Scene, node: Any) -> None:
    """End a raylet without a word, as a machine that loses its power does."""
    for info in node.all_processes.values():
        for one in info:
            kill(one.process.pid)
    scene.cluster.worker_nodes.discard(node)


def bury(nodes: list[Any]) -> None:
    """Take note of the dead, as a machine's first process does; ours had to end without that, Ray's own need not."""
    for node in nodes:
        for info in node.all_processes.values():
            for one in info:
                one.process.poll()


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def processes() -> dict[int, str]:
    """Return every living process here with its command line: this namespace has none but ours."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state = (entry / "stat").read_text(encoding="utf-8", errors="replace").rsplit(")", 1)[1].split()[0]
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if state not in ABSENT and int(entry.name) != os.getpid():
            found[int(entry.name)] = words
    return found


def left_over(matters: Callable[[str], object], seconds: float = 60) -> list[str]:
    """Return what still runs when it has had time to end."""
    deadline = time.monotonic() + seconds
    while True:
        titles = [title for title in processes().values() if matters(title)]
        if not titles or time.monotonic() > deadline:
            return titles
        time.sleep(0.2)


def told(row: RunRow) -> tuple[object, ...]:
    """What a table says of a run, whatever happened on the way."""
    return (row.run_id, row.label, row.task, row.seed, row.outcome, row.cause, row.stop_reason, row.score, row.metrics,
            row.steps, row.total_tokens, row.cost_usd)  # fmt: skip


def findings(scene: Scene, calm: int, asked: list[tuple[float, str]]) -> dict[str, Any]:
    """Return each promise with what breaks it; empty is well."""
    expected, seen = scene.rows("calm"), scene.rows("storm")
    differing = sorted(map(str, {told(row) for row in expected} ^ {told(row) for row in seen}))
    counts = Counter(row.run_id for row in seen)
    return {
        "calm study": [] if calm == 0 and len(expected) == scene.runs else [calm, len(expected)],
        "did not happen": scene.missed,
        "exit code": [] if scene.codes and scene.codes[-1] == 0 else scene.codes,
        "table": differing,
        "twice": [run_id for run_id, count in counts.items() if count > 1],
        "missing": [] if len(counts) == scene.runs else [len(counts)],
        "calls": calls_broken(scene, seen, asked),
        "left of the study": left_over(lambda title: OURS.search(title)),
        "left in scratch": [path.name for path in (scene.folder / "scratch").iterdir()],
    }  # fmt: skip


def calls_broken(scene: Scene, rows: list[RunRow], asked: list[tuple[float, str]]) -> list[str]:
    """Match what the server was asked with the attempts: those that were submitted asked everything exactly once."""
    found = [(when, re.search(r"seed=(\d+) word=(\w+) number=(\d+)", text)) for when, text in asked]
    calls = [(when, int(match[1]), match[2], int(match[3])) for when, match in found if match]
    times = Counter((word, number) for _, _, word, number in calls)
    attempts = {(one.run_id, one.attempt): one for one in scene.store("storm").attempts.all()}
    broken = []
    for row in (row for row in rows if row.agent == "asker"):
        steps = stored_steps(scene.store("storm").place.child(f"artifacts/{row.run_id}/{row.attempts}"))
        (word,) = (step.text.removeprefix("word=") for step in steps if step.text.startswith("word="))
        if any(times[word, number] != 1 for number in range(CALLS)):
            broken.append(f"seed {row.seed}: asked {[times[word, number] for number in range(CALLS)]} times")
        submitted = attempts[row.run_id, row.attempts].finished_at
        after = [when for when, seed, _, _ in calls if seed == row.seed and submitted and when > submitted.timestamp()]
        if after:
            broken.append(f"seed {row.seed}: {len(after)} calls after the submission")
        words = {other for _, seed, other, _ in calls if seed == row.seed}
        if len(words) > row.attempts:
            broken.append(f"seed {row.seed}: {len(words)} executions, {row.attempts} attempts")
    return broken


if __name__ == "__main__":
    raise SystemExit(main())
