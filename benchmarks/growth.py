"""What grows with a study and what must not: committing and reading results, the memory that holds them."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from figure import Figure

from cluster.rows import Ending, Facts, ended_row, run_row, submitted_row
from mldevbench.records import AgentSpec, Budget, Outcome, Run, StopReason, Submitted, Usage
from mldevbench.store.place import open_place
from mldevbench.store.study_store import Finished, StudyStore

GROUP = "Store"
SIZES = (100, 1_000, 10_000)
NEAR = 50  # runs around a size over which a commit is timed


def measure() -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        yield from _measure(StudyStore(open_place(str(folder / "s"))))
    finally:
        shutil.rmtree(folder)


def _measure(store: StudyStore) -> Iterator[Figure]:
    took: list[float] = []
    memory: dict[int, int] = {}
    tracemalloc.start()
    for number in range(SIZES[-1]):
        finished = result(number)
        began = time.perf_counter()
        store.commit(finished)
        took.append(time.perf_counter() - began)
        if number + 1 in SIZES:
            memory[number + 1] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    commits = {size: 1000 * statistics.median(took[max(0, size - NEAR) : size]) for size in SIZES}
    for size, milliseconds in commits.items():
        yield Figure(GROUP, f"committing run {size:,}", milliseconds, "ms")
    ratio = commits[10_000] / commits[100]
    yield Figure(GROUP, "committing run 10,000 against run 100", ratio, "×", "≤ 1.5", ratio <= 1.5)
    held = memory[10_000] / memory[1_000]
    yield Figure(GROUP, "memory of the store, 10,000 runs against 1,000", held, "×", "≤ 1.2", held <= 1.2)
    began = time.perf_counter()
    rows = sum(1 for _ in StudyStore(store.place).runs.all())
    seconds = time.perf_counter() - began
    assert rows == SIZES[-1]
    yield Figure(GROUP, "reading 10,000 rows", seconds, "s", "≤ 2", seconds <= 2)


def result(number: int) -> Finished:
    """Return all that one run leaves in the store."""
    spec = AgentSpec("react", "react", "d", "openai/x")
    run = Run(spec, f"task{number % 30}", "debugging", "d", "mini", 0, number // 30, Budget())
    now = datetime.now(UTC)
    done = Submitted(
        run.run_id, 1, f"artifacts/{run.run_id}/1/submission.tar", "0" * 64, StopReason.FINISHED, "",
        Usage(20, 30_000, 4_000, cost_usd=0.1), now, now, 60.0, 55.0, "bubblewrap", "none", "node",
    )  # fmt: skip
    facts = Facts("s", "salt", {run.task: "v"})
    ending = Ending(Outcome.PASSED, stop_reason=StopReason.FINISHED)
    attempt = ended_row(submitted_row(facts, run, done), ending, now)
    return Finished(replace(run_row(facts, run, [attempt], ending, 0.0, now)), attempt)
