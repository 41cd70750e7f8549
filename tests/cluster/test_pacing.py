"""32 runs at once on four nodes, and a provider that takes five calls at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = [pytest.mark.slow, pytest.mark.crowd, pytest.mark.timeout(1200)]

NODES = Path(__file__).parent / "nodes.py"
RUNS, CALLS, PLACES, SECONDS = 32, 3, 5, 4.0  # seconds on average, few for a model that writes code
SCRIPT = """
import json, socket, subprocess, sys, threading, time
sys.path[:0] = [sys.argv[1]]
from model.server import Answer, ModelServer
storage, plugins, answer, runs, calls, places, seconds = sys.argv[2:9]
answered, asked = [], []

def behave(number, body):
    # No two answers take equally long, as with real ones: else all places would be free at the same moments.
    now, takes = time.monotonic(), float(seconds) * (0.75 + number * 0.618 % 0.5)
    answered.append(now)
    if "question" in str(body["messages"]):
        asked.append((now, takes))
    return Answer(delay=takes)

def let_in(listener):
    guests = [listener.accept()[0] for _ in range(int(runs))]
    for guest in guests:
        guest.sendall(b"x")

with ModelServer(behave, at_most=int(places)) as server, socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
    threading.Thread(target=let_in, args=(listener,), daemon=True).start()
    done = subprocess.run(
        [sys.executable, "-m", "cluster", "--name", "s", "--root", plugins, "--agent", "talker", "--task", "quick",
         "--model", "openai/tested", "--price", "openai/tested=1,2", "--api-base", server.base, "--storage", storage,
         "--seeds", runs, "--param", f"barrier={listener.getsockname()[1]}", "--param", f"calls={calls}"],
        capture_output=True, text=True)
    said = {"code": done.returncode, "out": done.stderr, "answered": len(answered),
            "refused": server.tally.refused, "given": sum(takes for _, takes in asked),
            "took": max(now + takes for now, takes in asked) - min(now for now, _ in asked)}
open(answer, "w").write(json.dumps(said))
"""


def test_no_run_fails_and_no_call_is_made_twice(plugins: Path, tmp_path: Path, clean_environment: None) -> None:
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root here")
    shares = [share_of_places(plugins, tmp_path / "first")]
    if shares[0] < 0.9:  # busy neighbours only ever take away, so of two tries the better one tells more of us
        shares.append(share_of_places(plugins, tmp_path / "second"))
    assert max(shares) >= 0.9, shares


def share_of_places(plugins: Path, folder: Path) -> float:
    """Return which share of what the provider can give was used."""
    folder.mkdir()
    storage, answer = folder / "r", folder / "answer.json"
    words = [storage, plugins, answer, RUNS, CALLS, PLACES, SECONDS]
    inside = [sys.executable, "-c", SCRIPT, str(Path(__file__).parents[1]), *(str(word) for word in words)]
    command = ["unshare", "--net", sys.executable, str(NODES), "4", str(RUNS // 4), "0", *inside]
    environment = {**os.environ, "OPENAI_API_KEY": "sk-not-a-real-one-0123456789"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=560, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(answer.read_text(encoding="utf-8"))
    assert said["code"] == 0, said["out"][-3000:]
    rows = list(StudyStore(open_place(str(storage / "s"))).runs.all())
    assert [(row.outcome, row.steps, row.attempts) for row in rows] == [(Outcome.PASSED, CALLS + 1, 1)] * RUNS
    assert said["answered"] == RUNS * (CALLS + 1), "a call was made twice"
    assert said["refused"] <= 2 * PLACES
    share = said["given"] / PLACES / said["took"]
    print(f"{share:.3f} of what {PLACES} places can give; {said['refused']} refusals")
    return share
