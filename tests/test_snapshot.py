"""When snapshots are due, and that one stays what it was whatever the agent does afterwards."""

from __future__ import annotations

import itertools
import tarfile
import threading
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from mldevbench.errors import UserError
from mldevbench.model.budget import Ask, BudgetMeter
from mldevbench.records import Budget, Usage
from mldevbench.sandbox import SandboxSpec
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.snapshot import Grid, Snapshots, gather, parse_grid, stored_snapshots
from mldevbench.store.place import Place, open_place

FILES = 300
WRITER = f"""
import pathlib
number = 0
while True:
    number += 1
    for name in range({FILES}):
        pathlib.Path(f"out/{{name:03d}}.txt").write_text(str(number))
"""
IN_PLACE = """
import mmap, os
with open("out/mapped", "r+b") as file:
    view = mmap.mmap(file.fileno(), 0)
    view[:5] = b"later"
    view.flush()
with open("out/grown", "ab") as file:
    file.write(b" and later")
with open("out/changed", "r+b") as file:
    file.write(b"later")
os.replace("out/changed", "out/moved")
"""


@pytest.mark.parametrize(
    ("text", "budget", "spent", "due"),
    [
        ("log", Budget(steps=16), [0, 1, 2, 3, 4, 5, 8, 9, 15, 16], [1, 2, 4, 8, 16]),
        ("steps=log", Budget(steps=50), list(range(51)), [1, 3, 6, 12, 25, 50]),
        ("steps=3", Budget(steps=50), list(range(11)), [3, 6, 9]),
        ("tokens=1000", Budget(), [10, 900, 1100, 1900, 4000, 4100], [1100, 4000]),
        ("minutes=0.5", Budget(), [0.1, 0.4, 0.6, 0.9, 1.0], [0.6, 1.0]),
    ],
)
def test_a_snapshot_is_due_at_the_grids_points(text: str, budget: Budget, spent: list, due: list) -> None:
    grid, last, taken = parse_grid(text), 0.0, []
    for amount in spent:
        if grid.due(amount, last, budget):
            taken.append(amount)
            last = amount
    assert taken == due


def test_a_log_grid_of_tokens_is_finer_than_halvings() -> None:
    points = Grid("tokens", None).points(Budget(tokens=64_000))
    assert points[0] == 1000 and points[-1] == 64_000
    assert max(high / low for low, high in itertools.pairwise(points)) < 1.2


@pytest.mark.parametrize("text", ["", "often", "steps", "steps=0", "steps=-1", "hours=3", "steps=many", "log=steps"])
def test_a_grid_that_means_nothing_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--snapshot-every"):
        parse_grid(text)


def test_a_log_grid_needs_a_bound() -> None:
    with pytest.raises(UserError, match="no bound in tokens"):
        parse_grid("tokens=log").check(Budget())


def step(meter: BudgetMeter) -> None:
    reserved = meter.reserve(Ask(10))
    assert reserved
    now = time.monotonic()
    meter.settle(reserved, Usage(prompt_tokens=10, cost_usd=0.0), now, now)


def contents(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}  # type: ignore[union-attr]


@pytest.fixture(params=["bubblewrap", "process"])
def isolation(request: pytest.FixtureRequest) -> str:
    return request.param


def test_what_is_written_afterwards_changes_no_earlier_snapshot(
    isolation: str, task_venv: Path, tmp_path: Path
) -> None:
    workspace, store = tmp_path / "work", tmp_path / "store"
    (workspace / "out").mkdir(parents=True)
    for name in ("mapped", "grown", "changed"):
        (workspace / "out" / name).write_bytes(b"first of all")
    meter = BudgetMeter(Budget(steps=50))
    snapshots = Snapshots(parse_grid("steps=1"), meter, open_place(str(store)), tmp_path)
    sandbox = open_sandbox(SandboxSpec(workspace, venv=task_venv), isolation)
    try:
        snapshots.watch(sandbox, lambda body: gather(workspace, ["out/**"], 10, body))
        for _ in range(2):
            step(meter)
            snapshots.look()
        snapshots.look()
        snapshots.settle()
        before = (store / "snapshots/0000.tar").read_bytes()
        assert sandbox.run(["python", "-c", IN_PLACE], seconds=60).exit_code == 0
        step(meter)
        snapshots.look()
    finally:
        snapshots.close()
        sandbox.close()
    taken = stored_snapshots(open_place(str(store)))
    assert [(one.number, one.steps, one.archive) for one in taken] == [
        (0, 1, "snapshots/0000.tar"),
        (1, 2, "snapshots/0000.tar"),  # nothing had changed: kept once
        (2, 3, "snapshots/0002.tar"),
    ]
    assert (store / "snapshots/0000.tar").read_bytes() == before
    first, last = contents(store / "snapshots/0000.tar"), contents(store / "snapshots/0002.tar")
    assert {name: first[name] for name in first if name.startswith("out/")} == dict.fromkeys(
        ("out/mapped", "out/grown", "out/changed"), b"first of all"
    )
    assert last["out/mapped"] == b"later of all" and last["out/grown"] == b"first of all and later"
    assert last["out/moved"] == b"later of all" and "out/changed" not in last


def test_a_snapshot_is_of_one_moment(isolation: str, task_venv: Path, tmp_path: Path) -> None:
    workspace, store = tmp_path / "work", tmp_path / "store"
    (workspace / "out").mkdir(parents=True)
    for name in range(FILES):
        (workspace / "out" / f"{name:03d}.txt").write_text("0", encoding="utf-8")
    meter = BudgetMeter(Budget(steps=50))
    snapshots = Snapshots(parse_grid("steps=1"), meter, open_place(str(store)), tmp_path)
    sandbox = open_sandbox(SandboxSpec(workspace, venv=task_venv), isolation)
    try:
        snapshots.watch(sandbox, lambda body: gather(workspace, ["out/**"], 10, body))
        sandbox.spawn(["python", "-c", WRITER], log="writer.log")
        deadline = time.monotonic() + 60
        while (workspace / "out/299.txt").read_text(encoding="utf-8") in ("0", "") and time.monotonic() < deadline:
            time.sleep(0.01)
        for _ in range(3):
            step(meter)
            snapshots.look()
    finally:
        snapshots.close()
        sandbox.close()
    archives = {one.archive for one in stored_snapshots(open_place(str(store)))}
    assert len(archives) > 1, "the writer was never thawed"
    for archive in archives:
        files = contents(store / archive)
        numbers = [int(files[f"out/{name:03d}.txt"] or -1) for name in range(FILES)]
        edge = [place for place in range(1, FILES) if numbers[place] != numbers[place - 1]]
        written = [number for number in numbers if number >= 0]  # one file may be open and still empty
        assert max(written) - min(written) <= 1 and len(edge) <= 2, "files of different moments"


def test_the_time_that_a_snapshot_takes_is_not_the_agents(task_venv: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    meter = BudgetMeter(Budget(steps=50))
    snapshots = Snapshots(parse_grid("steps=1"), meter, open_place(str(tmp_path / "store")), tmp_path)

    def slow(body: BinaryIO):
        time.sleep(0.5)
        return gather(workspace, ["out/**"], 10, body)

    with open_sandbox(SandboxSpec(workspace, venv=task_venv), "process") as sandbox:
        snapshots.watch(sandbox, slow)
        step(meter)
        snapshots.look()
        snapshots.close()
    assert meter.usage.wait_seconds >= 0.5


class Waiting(Place):
    """A storage that takes nothing before it may."""

    may = threading.Event()

    def take(self, name: str, source: Path) -> None:
        assert self.may.wait(60)
        super().take(name, source)


def test_an_agent_goes_on_while_its_snapshot_is_stored(task_venv: Path, tmp_path: Path) -> None:
    workspace, place = tmp_path / "work", open_place(str(tmp_path / "store"))
    workspace.mkdir()
    slow = Waiting(place.filesystem, place.path, place.shown, place.top)
    meter = BudgetMeter(Budget(steps=50))
    snapshots = Snapshots(parse_grid("steps=1"), meter, slow, tmp_path)
    with open_sandbox(SandboxSpec(workspace, venv=task_venv), "process") as sandbox:
        snapshots.watch(sandbox, lambda body: gather(workspace, ["out.txt"], 10, body))
        step(meter)
        snapshots.look()
        assert sandbox.run(["bash", "-c", "echo later > out.txt"], seconds=60).exit_code == 0
        assert stored_snapshots(place) == []
        slow.may.set()
        step(meter)
        snapshots.look()
        snapshots.close()
    first, second = stored_snapshots(place)
    assert "out.txt" not in contents(tmp_path / "store" / first.archive)
    assert contents(tmp_path / "store" / second.archive)["out.txt"] == b"later\n"
    assert not list(tmp_path.glob("snapshot-*"))


def test_a_full_disk_costs_one_snapshot_and_not_the_agent(task_venv: Path, tmp_path: Path) -> None:
    workspace, store = tmp_path / "work", tmp_path / "store"
    workspace.mkdir()
    (workspace / "out.txt").write_text("done", encoding="utf-8")
    meter, full = BudgetMeter(Budget(steps=50)), [True]
    snapshots = Snapshots(parse_grid("steps=1"), meter, open_place(str(store)), tmp_path)

    def gathered(body: BinaryIO):
        if full.pop():
            body.write(b"half")
            raise OSError(28, "No space left on device")
        return gather(workspace, ["out.txt"], 10, body)

    with open_sandbox(SandboxSpec(workspace, venv=task_venv), "process") as sandbox:
        snapshots.watch(sandbox, gathered)
        for more in (False, True):
            step(meter)
            snapshots.look()
            full.append(more)
            assert sandbox.run(["true"], seconds=60).exit_code == 0, "still frozen"
        snapshots.close()
    (only,) = stored_snapshots(open_place(str(store)))
    assert only.steps == 2 and contents(store / only.archive)["out.txt"] == b"done"
    assert not list(tmp_path.glob("snapshot-*"))
