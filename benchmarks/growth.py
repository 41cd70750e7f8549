"""What grows with a study and what must not: committing and reading results, the memory of what a driver holds."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from driver import peak_mb
from figure import Figure

from cluster.rows import Ending, Facts, ended_row, run_row, submitted_row
from cluster.scheduler import Durations, Queue
from cluster.shape import Shape
from cluster.track import Track
from mldevbench.records import AgentSpec, Budget, Outcome, Run, StopReason, Submitted, Usage
from mldevbench.store.parts import PART_RUNS
from mldevbench.store.place import open_place
from mldevbench.store.study_store import Finished, StudyStore

GROUP = "Store"
FEW, SOME, MANY = 100, 1_000, 10_000


class Grown(NamedTuple):
    """What a study of some size took."""

    commits: list[float]  # seconds, of each run
    peak_mb: float
    read_seconds: float


def measure() -> Iterator[Figure]:
    some, many = grown(SOME), grown(MANY)
    took = {size: 1000 * statistics.median(around(many.commits, size)) for size in (FEW, SOME, MANY)}
    for size, milliseconds in took.items():
        yield Figure(GROUP, f"committing run {size:,}", milliseconds, "ms")
    ratio = took[MANY] / took[FEW]
    yield Figure(GROUP, f"committing run {MANY:,} against run {FEW}", ratio, "×", "≤ 1.5", ratio <= 1.5)
    seconds = many.read_seconds
    yield Figure(GROUP, f"reading {MANY:,} rows", seconds, "s", "≤ 2", seconds <= 2)
    held = many.peak_mb / some.peak_mb
    yield Figure(GROUP, f"peak memory, plan, queue and store of {SOME:,} runs", some.peak_mb, "MB")
    yield Figure(GROUP, f"the same of {MANY:,} runs, against it", held, "×", "≤ 1.2", held <= 1.2)


def around(commits: list[float], run: int) -> list[float]:
    """Return the commits of the last whole part up to that of a run: a part is the cheaper the emptier it is."""
    part = min(run, len(commits) - PART_RUNS) // PART_RUNS
    return commits[part * PART_RUNS : (part + 1) * PART_RUNS]


def grown(runs: int) -> Grown:
    """Grow a study in a process of its own, whose peak of memory is then its."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        command = [sys.executable, __file__, str(runs), folder]
        return Grown(**json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def grow(runs: int, folder: str) -> Grown:
    """Take runs from a driver's queue one by one and commit them."""
    import cluster.driver  # noqa: F401 - what a driver has loaded counts

    store = StudyStore(open_place(f"{folder}/study"))
    queue: Queue[Track] = Queue(Durations({}), lambda run: Shape())
    plan = [planned(number) for number in range(runs)]
    for run in plan:
        queue.add(Track(run))
    commits = []
    while track := queue.pop():
        finished = result(track.run)
        began = time.perf_counter()
        store.commit(finished)
        commits.append(time.perf_counter() - began)
    peak = peak_mb("self")
    began = time.perf_counter()
    assert sum(1 for _ in StudyStore(store.place).runs.all()) == len(plan)
    return Grown(commits, peak, time.perf_counter() - began)


def planned(number: int) -> Run:
    spec = AgentSpec("react", "react", "d", "openai/x")
    return Run(spec, f"task{number % 30}", "debugging", "d", "mini", 0, number // 30, Budget())


def result(run: Run) -> Finished:
    """Return all that one run leaves in the store."""
    now = datetime.now(UTC)
    done = Submitted(
        run.run_id, 1, f"artifacts/{run.run_id}/1/submission.tar", "0" * 64, StopReason.FINISHED, "",
        Usage(20, 30_000, 4_000, cost_usd=0.1), now, now, 60.0, 55.0, "bubblewrap", "none", "node",
    )  # fmt: skip
    facts = Facts("s", "salt", {run.task: "v"})
    ending = Ending(Outcome.PASSED, stop_reason=StopReason.FINISHED)
    attempt = ended_row(submitted_row(facts, run, done), ending, now)
    return Finished(run_row(facts, run, [attempt], ending, 0.0, now), attempt)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    print(json.dumps(grow(int(sys.argv[1]), sys.argv[2])._asdict()))
