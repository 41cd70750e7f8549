"""What the harness adds to one run without Ray and without a model, and how soon a command answers."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from figure import Figure

from mldevbench import task_venv
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.execute import Attempt, Means, Order
from mldevbench.records import AgentSpec, Budget, Run
from mldevbench.sandbox.opening import choose
from mldevbench.store.place import open_place
from mldevbench.validate import RoomSettings, validate_submission

GROUP = "Overhead of one run"
TIMES = 20


def milliseconds(act: Callable[[], object], times: int = TIMES) -> float:
    """Return the median wall time of an act, after one to warm up."""
    act()
    took = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        took.append(time.perf_counter() - began)
    return 1000 * statistics.median(took)


def measure() -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        yield from one_run(folder)
        yield from commands()
    finally:
        shutil.rmtree(folder)


def one_run(folder: Path) -> Iterator[Figure]:
    """Time hello_world with an agent that does nothing: workspace, sandbox, submission, validation."""
    catalog = Catalog.of()
    task, agent = catalog.task("hello_world"), catalog.agent("noop")
    isolation, venv = choose("auto", trusted=True), task_venv.path()
    spec = AgentSpec("noop", "noop", agent.digest())
    run = Run(spec, task.id, task.category, "", "mini", 0, 0, Budget())
    draw = Draw.of(bytes(32), task.id, 0)
    place = open_place(str(folder / "study"))
    means = Means(task=task, agent=agent, venv=venv, scratch=folder / "scratch", place=place)
    order = Order("bench", run, 1, draw, isolation)
    work = milliseconds(lambda: Attempt(order, means).execute())
    done = Attempt(order, means).execute()
    settings = RoomSettings(isolation, venv, folder / "rooms")
    archive = folder / "study" / done.archive
    judge = milliseconds(lambda: validate_submission(task, archive, done.digest, draw, "mini", settings))
    whole = work + judge
    yield Figure(GROUP, f"a run without a model, warm, {isolation}", whole, "ms", "≤ 100", whole <= 100)
    yield Figure(GROUP, "of it the working half", work, "ms")
    yield Figure(GROUP, "of it validation", judge, "ms")


def commands() -> Iterator[Figure]:
    for words in (["--help"], ["tasks", "list"], ["report", "paper"]):
        command = [sys.executable, "-m", "mldevbench", *words]
        took = milliseconds(lambda command=command: subprocess.run(command, capture_output=True, check=True), 5)
        yield Figure(GROUP, f"mldevbench {' '.join(words)}", took, "ms")
    bare = milliseconds(lambda: subprocess.run([sys.executable, "-c", "pass"], capture_output=True, check=True), 5)
    yield Figure(GROUP, "a Python that does nothing", bare, "ms")
