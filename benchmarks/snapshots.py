"""What snapshots cost a run: the same agent at the same time with a log-spaced grid of them and without."""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from figure import Figure

from mldevbench import task_venv
from mldevbench.catalog import Catalog
from mldevbench.draw import Draw
from mldevbench.execute import Attempt, Means, Order
from mldevbench.model.library import library
from mldevbench.model.spec import resolve
from mldevbench.records import AgentSpec, Budget, Run, StopReason, Submitted
from mldevbench.sandbox.opening import choose
from mldevbench.snapshot import stored_snapshots
from mldevbench.store.place import open_place

GROUP = "Snapshots"
PLUGINS = Path(__file__).resolve().parent / "plugins"
STEPS = 32  # each writes 20 MB and works for more than a second
EVERY = {"bare": None, "done": "log"}
PAIRS = 4  # walls of two runs differ by a percent or so without any snapshot; even, so that each comes first as often
MOST = 2.0


def measure() -> Iterator[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    library()  # its import is no part of either
    try:
        longer, still, taken, seconds = [], [], 0, 0.0
        for number in range(PAIRS):
            names = ("bare", "done") if number % 2 else ("done", "bare")  # who comes first is at an advantage
            with ThreadPoolExecutor(2) as both:  # at once: what the machine does besides slows both down
                pair = {name: both.submit(run, folder / f"{name}-{number}", EVERY[name]) for name in names}
            bare, done = pair["bare"].result(), pair["done"].result()
            taken = len(stored_snapshots(open_place(str((folder / f"done-{number}/study" / done.archive).parent))))
            seconds = bare.wall_seconds
            longer.append(100 * (done.wall_seconds / seconds - 1))
            still.append(done.usage.wait_seconds - bare.usage.wait_seconds)
    finally:
        shutil.rmtree(folder)
    more, stood = statistics.mean(longer), statistics.mean(still)
    share = 100 * stood / seconds  # the steadier figure of the two
    yield Figure(GROUP, f"a run that writes 20 MB {STEPS} times, without snapshots", seconds, "s")
    yield Figure(GROUP, f"longer by {taken} log-spaced ones", more, "%", f"< {MOST:g}", more < MOST)
    yield Figure(GROUP, "its share that stood still for them", share, "%", f"< {MOST:g}", share < MOST)
    yield Figure(GROUP, "one snapshot of 20 MB", 1000 * stood / taken, "ms")


def run(folder: Path, snapshot_every: str | None) -> Submitted:
    """Let a scripted agent work until its steps are used up."""
    catalog = Catalog.of([PLUGINS])
    task, agent = catalog.task("rewriting"), catalog.agent("react")
    spec = AgentSpec("react", "react", agent.digest(), params=json.dumps(agent.file.defaults))
    budget = Budget(steps=STEPS)
    means = Means(task, agent, task_venv.path(), folder / "scratch", open_place(str(folder / "study")))
    order = Order(
        "bench", Run(spec, task.id, task.category, "", "mini", 0, 0, budget), 1, Draw.of(bytes(32), task.id, 0),
        choose("auto", trusted=True), model=resolve(f"scripted/{PLUGINS / 'rewriting.yaml'}", environment={}),
        snapshot_every=snapshot_every,
    )  # fmt: skip
    done = Attempt(order, means).execute()
    assert done.stop_reason is StopReason.STEPS and done.usage.steps == STEPS, done
    return done
