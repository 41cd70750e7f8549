"""What a harness adds to a run: two turns of a scripted model, one file written, one verdict; ours and Inspect AI's.

Ours is a study on embedded Ray, timed between finished runs once the actors are warm. Inspect AI runs in a venv of
its own, with its mock model and its local sandbox, which isolates nothing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from figure import Figure

from mldevbench.cache import cache_folder
from mldevbench.records import Outcome
from mldevbench.sandbox.opening import available
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

HERE = Path(__file__).resolve().parent
GROUP = "Overhead of one run"
PEER = "inspect-ai==0.3.285"
RUNS = {1: 24, 8: 96}
WARM = 2  # rounds that are not timed


def measure() -> Iterator[Figure]:
    for at_once in (1, 8):
        peer = inspect_milliseconds(at_once)
        if peer is not None:
            yield Figure(GROUP, f"Inspect AI, local sandbox, {at_once} at once", peer, "ms")
        for isolation in ("bubblewrap", "process"):
            if available(isolation) is None:
                ours = our_milliseconds(isolation, at_once)
                wanted = "below Inspect AI" if peer is not None and isolation == "bubblewrap" and at_once == 8 else ""
                met = ours < peer if wanted and peer is not None else None
                yield Figure(GROUP, f"mldevbench, {isolation}, {at_once} at once", ours, "ms", wanted, met)
    cold = our_milliseconds("bubblewrap", 1, "--agent", "oracle", "--fresh-actors")
    name = "mldevbench, bubblewrap, without a model, fresh actors for every run"
    yield Figure(GROUP, name, cold, "ms", "≤ 1,500", cold <= 1500)


def our_milliseconds(isolation: str, at_once: int, *solver: str) -> float:
    """Return the time between finished runs of a study, once it is warm; two scripted turns unless said otherwise."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    runs = RUNS[at_once]
    command = [
        sys.executable, "-m", "mldevbench", "run", "--name", "s", "--storage", str(folder), "--root",
        str(HERE / "plugins"), *(solver or ("--agent", f"react=scripted/{HERE / 'plugins' / 'two_turns.yaml'}")),
        "--task", "two_turns", "--seeds", str(runs), "--sandbox", isolation, "--cpus-per-run", str(1 / at_once),
        "--limit", f"runs_at_once={at_once}",
    ]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True)
        rows = list(StudyStore(open_place(str(folder / "s"))).runs.all())
        assert len(rows) == runs and {row.outcome for row in rows} == {Outcome.PASSED}
        ends = sorted(row.finished_at.timestamp() for row in rows)[WARM * at_once :]
        return 1000 * (ends[-1] - ends[0]) / (len(ends) - 1)
    finally:
        shutil.rmtree(folder)


def inspect_milliseconds(at_once: int) -> float | None:
    """Return what Inspect AI takes for a sample; None, said aloud, where it can't be installed."""
    python = cache_folder() / "bench-inspect" / "bin" / "python"
    if not python.exists():
        venv = python.parent.parent
        try:
            subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
            subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEER], check=True)
        except subprocess.CalledProcessError:
            shutil.rmtree(venv, ignore_errors=True)
            print(f"{PEER} can't be installed here: the comparison is left out", file=sys.stderr)
            return None
    command = [str(python), str(HERE / "peer_task.py"), str(RUNS[at_once]), str(at_once)]
    return 1000 * float(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[-1])
