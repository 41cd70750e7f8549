"""What grows with a study and what must not: committing and reading results."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from figure import Figure

from cluster.rows import Ending, Facts, ended_row, run_row, submitted_row
from mldevbench.records import AgentSpec, Budget, Outcome, Run, StopReason, Submitted, Usage
from mldevbench.store.parts import PART_RUNS
from mldevbench.store.place import open_place
from mldevbench.store.study_store import Finished, StudyStore

GROUP = "Store"
SIZES = (100, 1_124, 10_084)  # a hundred runs into a part: a commit rewrites its part, so full ones take longer
NEAR = 50  # runs before a size over which a commit is timed


def measure() -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        yield from _measure(StudyStore(open_place(str(folder / "s"))))
    finally:
        shutil.rmtree(folder)


def _measure(store: StudyStore) -> Iterator[Figure]:
    took: list[float] = []
    for number in range(SIZES[-1]):
        finished = result(number)
        began = time.perf_counter()
        store.commit(finished)
        took.append(time.perf_counter() - began)
    commits = {size: 1000 * statistics.median(took[size - NEAR : size]) for size in (*SIZES, PART_RUNS)}
    for size, milliseconds in sorted(commits.items()):
        yield Figure(
            GROUP, f"committing run {size:,}{', which fills a part' * (size == PART_RUNS)}", milliseconds, "ms"
        )
    ratio = commits[SIZES[-1]] / commits[SIZES[0]]
    yield Figure(GROUP, f"committing run {SIZES[-1]:,} against run {SIZES[0]}", ratio, "×", "≤ 1.5", ratio <= 1.5)
    began = time.perf_counter()
    rows = sum(1 for _ in StudyStore(store.place).runs.all())
    seconds = time.perf_counter() - began
    assert rows == SIZES[-1]
    yield Figure(GROUP, f"reading {rows:,} rows", seconds, "s", "≤ 2", seconds <= 2)


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
