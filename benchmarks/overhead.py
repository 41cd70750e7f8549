"""What the harness adds to one run, and what the store costs as a study grows; ratios within one run.

Prints a table. Run on a machine that does nothing else: `make bench`.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mldevbench import task_venv
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.execute import Attempt, Means, Order
from mldevbench.records import AgentSpec, Budget, Run
from mldevbench.sandbox.opening import choose
from mldevbench.store.place import open_place
from mldevbench.validate import RoomSettings, validate_submission

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


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    try:
        for what, value in {**one_run(folder), **commands()}.items():
            print(f"{what:55} {value}")
    finally:
        shutil.rmtree(folder)


def one_run(folder: Path) -> dict[str, str]:
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
    return {
        f"a run without a model, warm, {isolation} (target 100 ms)": f"{work + judge:.0f} ms",
        "  of it the working half": f"{work:.0f} ms",
        "  of it validation": f"{judge:.0f} ms",
    }


def commands() -> dict[str, str]:
    took = milliseconds(
        lambda: subprocess.run([sys.executable, "-m", "mldevbench", "--help"], capture_output=True, check=True), 5
    )
    bare = milliseconds(lambda: subprocess.run([sys.executable, "-c", "pass"], capture_output=True, check=True), 5)
    return {"mldevbench --help against a bare Python": f"{took:.0f} ms / {bare:.0f} ms"}


if __name__ == "__main__":
    main()
