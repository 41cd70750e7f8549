"""The driver's smaller parts: leftovers, patience, history, the time that is left, what a person is told."""

from __future__ import annotations

import dataclasses
import io
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
import ray.exceptions as rex
import yaml
from ray._private.node import Node

from cluster import progress as progress_module
from cluster import run_actor
from cluster.berth import Versions, children, complaint_of, versions_here
from cluster.blame import fault_of
from cluster.history import earlier_durations
from cluster.job import Tally
from cluster.lodging import lodging, sweep
from cluster.progress import Progress, standing_line
from cluster.rows import Ending, Facts, now_utc, run_row, started_row
from cluster.run_actor import RunWorker
from cluster.session import nodes_to_come, session
from cluster.shape import Shape
from cluster.site import Site
from mldevbench.agent import load_agent
from mldevbench.agent_venv import building
from mldevbench.bundle import pack
from mldevbench.cache import cache_folder
from mldevbench.cli.driving import hours_left
from mldevbench.errors import Fault, UserError
from mldevbench.records import AgentSpec, Budget, Outcome, Run
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.trajectory import stored_steps

KILLED = """
import os, signal, sys
from pathlib import Path
from cluster.lodging import lodging
with lodging(Path(sys.argv[1])) as folder:
    (folder / "big").write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_actor_left_is_cleared_and_what_is_in_use_is_not(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    with lodging(tmp_path) as mine:
        assert sweep(tmp_path) == 1
        assert sorted(tmp_path.iterdir()) == sorted([mine, mine.with_suffix(".owner")])
    assert list(tmp_path.iterdir()) == [] and sweep(tmp_path / "not there") == 0


WRITES = """
import os, signal, sys
from pathlib import Path
from cluster.lodging import lodging
from mldevbench.records import Step
from mldevbench.store.place import open_place
from mldevbench.trajectory import Trajectory
with lodging(Path(sys.argv[1])) as folder:
    (folder / "a" / "workspace").mkdir(parents=True)
    planted = folder / "a" / "workspace" / "trajectory"
    planted.with_suffix(".owed").write_text(f'["{sys.argv[2]}/planted", 0, 0]')
    planted.with_suffix(".jsonl").write_text("{}\\n")
    with Trajectory(folder / "a" / "trajectory.jsonl", open_place(sys.argv[2])) as trajectory:
        for number in range(4):
            trajectory.record(Step(role="note", text=str(number)))
            if number == 1:
                trajectory.ship()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_actor_had_written_reaches_the_storage(tmp_path: Path) -> None:
    scratch, storage = tmp_path / "scratch", tmp_path / "storage"
    subprocess.run([sys.executable, "-c", WRITES, str(scratch), str(storage)], check=False)
    assert [step.text for step in stored_steps(open_place(str(storage)))] == ["0", "1"]
    aside = storage.rename(tmp_path / "aside")
    storage.write_text("in the way", encoding="utf-8")
    assert sweep(scratch) == 0 and list(scratch.iterdir()), "kept while the storage fails"
    storage.unlink()
    aside.rename(storage)
    assert sweep(scratch) == 1 and not list(scratch.iterdir())
    assert [step.text for step in stored_steps(open_place(str(storage)))] == ["0", "1", "2", "3"]
    assert not (storage / "planted").exists()


def test_another_containers_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "abc").mkdir()
    (tmp_path / "abc.owner").write_text("elsewhere boot pid:[1]\n1\n2", encoding="utf-8")
    (tmp_path / "odd.owner").write_text("nonsense", encoding="utf-8")
    assert sweep(tmp_path) == 0 and (tmp_path / "abc").is_dir()


def test_a_storage_that_fails_for_a_while_is_waited_for(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("in the way", encoding="utf-8")
    place = dataclasses.replace(open_place(str(tmp_path / "s")), patience=60.0)
    healing = threading.Timer(1.0, (tmp_path / "s").unlink)
    healing.start()
    began = time.monotonic()
    place.child("deep").write("name", b"data")
    healing.join()
    assert (tmp_path / "s" / "deep" / "name").read_bytes() == b"data" and time.monotonic() - began >= 0.9


def test_an_impatient_storage_fails_at_once(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("in the way", encoding="utf-8")
    with pytest.raises(Fault, match="storage_error"):
        open_place(str(tmp_path / "s")).write("name", b"data")


class Agent:
    """Stands for an attempt whose agent works until it is stopped."""

    def __init__(self) -> None:
        self.stopped = threading.Event()

    def stop(self) -> None:
        self.stopped.set()


@pytest.mark.slow
@pytest.mark.parametrize(("told", "ends"), [(False, True), (True, False)])
def test_an_agent_whose_driver_is_silent_is_ended(told: bool, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_actor, "SILENCE_SECONDS", 2.5)
    worker, agent, over = RunWorker(Site()), Agent(), threading.Event()
    holding = threading.Thread(target=worker._hold, args=(agent, over))
    holding.start()
    deadline = time.monotonic() + 6
    while time.monotonic() < deadline and not agent.stopped.is_set():
        if told:
            worker.hear()
        time.sleep(0.1)
    over.set()
    holding.join()
    assert agent.stopped.is_set() == ends


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (rex.OutOfMemoryError("memory"), "node_lost"),  # which is neither an actor's nor a task's error to Ray
        (rex.ActorUnavailableError("gone", None), "node_lost"),
        (rex.NodeDiedError("gone"), "node_lost"),
        (rex.WorkerCrashedError(), "node_lost"),
        (rex.RayTaskError("work", "", Fault("sandbox_error", "no bwrap")), "sandbox_error"),
        (rex.RayTaskError("work", "", KeyError("a fault of ours")), None),
    ],
)
def test_whose_fault_an_error_is(error: Exception, cause: str | None) -> None:
    told = fault_of(error)
    assert (told and told.cause) == cause


def test_an_actor_keeps_its_cache_where_the_study_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLDEVBENCH_CACHE", "/of/the/node")
    RunWorker(Site())
    assert cache_folder() == Path("/of/the/node")
    RunWorker(Site(cache=str(tmp_path)))
    assert cache_folder() == tmp_path


@pytest.mark.parametrize("kind", ["ObjectStoreFullError", "OutOfDiskError"])
def test_a_full_object_store_is_named_here_and_on_a_node(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    from cluster.travel import put

    full = getattr(rex, kind)("no room")
    on_a_node = rex.RayTaskError("work", "", full)
    told = fault_of(on_a_node)
    assert told and told.cause == "storage_error"

    def refuse(value: object) -> None:
        raise full

    monkeypatch.setattr(ray, "put", refuse)
    with pytest.raises(Fault, match="object store is full"):
        put(pack({}, "empty"))


@pytest.mark.parametrize(
    ("said", "environment", "low", "high"),
    [(2.0, {"SLURM_JOB_END_TIME": "99"}, 2.0, 2.0), (None, {"SLURM_JOB_END_TIME": "99"}, 0.0, 0.0)],
)
def test_the_time_that_is_left(said: float | None, environment: dict[str, str], low: float, high: float) -> None:
    hours = hours_left(said, environment)
    assert hours is not None and low <= hours <= high


def test_slurm_says_when_the_job_ends() -> None:
    hours = hours_left(None, {"SLURM_JOB_END_TIME": str(int(time.time()) + 7200)})
    assert hours is not None and 1.9 < hours < 2.0
    assert hours_left(None, {}) is None and hours_left(None, {"SLURM_JOB_END_TIME": "UNLIMITED"}) is None


def test_earlier_studies_teach_durations_and_unreadable_ones_teach_nothing(tmp_path: Path) -> None:
    spec = AgentSpec("react", "react", "d", "openai/x")
    run, facts = Run(spec, "a", "c", "d", "mini", 0, 0, Budget()), Facts("s", "salt", {"a": "v"})
    attempt = started_row(facts, run, 1, now_utc())
    row = run_row(facts, run, [attempt], Ending(Outcome.PASSED), 0.0, now_utc())
    for name, seconds in (("one", 10.0), ("two", 30.0), ("mine", 999.0)):
        store = StudyStore(open_place(str(tmp_path / name)))
        store.runs.put(0, [dataclasses.replace(row, wall_seconds=seconds)])
        void = dataclasses.replace(row, run_id="v", outcome=Outcome.VOID, wall_seconds=5000.0)
        store.runs.put(0, [void])
    mine = open_place(str(tmp_path / "mine"))
    assert earlier_durations(mine) == {("react", "a"): 20.0}
    (tmp_path / "two" / "runs" / "part-00000.parquet").write_bytes(b"no Parquet")
    assert earlier_durations(mine) == {}


def test_a_node_with_other_versions_or_without_room_is_told_of(tmp_path: Path) -> None:
    here = versions_here()
    other = Versions(here.python, here.ray, "9.9")
    assert "mldevbench 9.9; install the same on every node" in complaint_of("", tmp_path, other)
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "choose another with --scratch" in complaint_of("", tmp_path / "file" / "below", here)


def test_a_node_without_an_agents_packages_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLDEVBENCH_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "packed"
    folder.mkdir()
    text = 'version: 1\nsummary: x\nvenv: {python: "3.11"}\ncommand: {run: ["true"]}\n'
    (folder / "agent.yaml").write_text(text, encoding="utf-8")
    (folder / "requirements.txt").write_text("something==1\n", encoding="utf-8")
    agent = load_agent(folder)
    site = Site(no_install=True, agents=(pack({path.name: path for path in folder.iterdir()}, "packed"),))
    assert "run 'mldevbench agents install packed' there" in site.equip_all()
    assert agent.file.venv is not None
    place = building._place(folder, agent.file.venv, "3.11")
    (place / "bin").mkdir(parents=True)
    for name in (".ready", "bin/python"):
        (place / name).touch()
    assert site.equip_all() == ""


def test_a_node_without_an_agents_program_is_at_fault_itself(tmp_path: Path) -> None:
    text = 'version: 1\nsummary: x\ncommand: {run: ["x"], mounts: ["/nowhere/at/all"]}\n'
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(Fault, match="/nowhere/at/all isn't on this machine"):
        Site().equip(load_agent(tmp_path))


def test_children_are_seen() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            assert "sleep" in children()
        finally:
            process.kill()
    assert "sleep" not in children()


@pytest.mark.parametrize(
    ("address", "errors", "asked"),
    [
        ("local", ["The current node timed out during startup."], 2),
        ("local", ["The current node timed out during startup."] * 2, 2),
        ("local", ["the agent is missed"], 2),
        ("auto", ["timed out"], 1),
    ],
)
def test_an_own_ray_that_does_not_start_is_started_once_more_with_all_its_parts(
    address: str, errors: list[str], asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def init(**options: object) -> None:
        calls.append((options["address"], Node.start_api_server is not whole))
        if len(calls) <= len(errors):
            raise Exception(errors[len(calls) - 1])

    monkeypatch.setattr("os.environ", dict(os.environ))  # it is written to
    whole = Node.start_api_server
    monkeypatch.setattr("ray.init", init)
    monkeypatch.setattr("ray.shutdown", lambda: None)
    with nullcontext() if asked > len(errors) else pytest.raises(UserError, match="no Ray at"), session(address):
        pass
    assert calls == [(address, address == "local"), (address, False)][:asked]


def test_an_address_where_nobody_listens_is_refused_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(UserError, match=f"nobody answers at {address}"), session(address):
        pass


def test_node_types_of_ray_up_count_as_nodes_to_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert nodes_to_come() == []
    types = {
        "head": {"resources": {"CPU": 2}, "max_workers": 0},
        "gpu": {"resources": {"CPU": 8, "GPU": 4, "accelerator_type:A100": 1}, "labels": {"zone": "x"}},
    }  # fmt: skip
    types["gpu"]["max_workers"] = 3
    text = yaml.safe_dump({"available_node_types": types})
    (tmp_path / "ray_bootstrap_config.yaml").write_text(text, encoding="utf-8")
    (node,) = nodes_to_come()
    assert node.offers(Shape(8, 4, 0, "A100")) and node.offers(Shape(1, 1, 0, "zone=x")) and not node.offers(Shape(9))


def test_a_person_is_told_of_nodes_gpus_waits_and_notes_once() -> None:
    tally = Tally(10, 2, nodes=4, gpus=16, gpus_held=12, gpus_idle=2, model_wait_seconds=35.2, seconds_left=600)
    line = standing_line(tally)
    assert "4 nodes, 12 of 16 GPUs held, 2 idle, agents waited 35 s for models" in line
    assert line.endswith("about 10 min left")
    assert standing_line(Tally(10, guessing=True)).endswith("left by the tasks' own guesses")
    alone = standing_line(Tally(10, nodes=1))
    assert "node" not in alone and "GPU" not in alone and "model" not in alone
    said = io.StringIO()
    progress = Progress(said)
    tally.notes.append("left out: a node")
    progress.update(tally, None)
    progress.update(tally, None)
    assert said.getvalue().count("left out: a node") == 1


class Terminal(io.StringIO):
    """Stands for a terminal of 80 columns."""

    def isatty(self) -> bool:
        return True

    def shown(self) -> list[str]:
        """Return what a person sees in the end: each wipe takes the lines above it away."""
        lines: list[str] = []
        for number, text in re.findall(r"(?:\x1b\[(\d+)F\x1b\[J)?([^\x1b]*)", self.getvalue()):
            lines = lines[: len(lines) - int(number or 0)] + text.splitlines()
        return lines


def test_on_a_terminal_a_table_stands_below_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress_module, "LIVE_SECONDS", 0.0)
    tally = Tally(64, 2, 1, 1, nodes=4, gpus=16, gpus_held=12, gpus_idle=2, model_wait_seconds=35.2, seconds_left=600)
    tally.notes.append("left out: a node with a very long story that goes on and on " + "and on " * 20)
    terminal = Terminal()
    with Progress(terminal) as progress:
        for _ in range(3):
            progress.update(tally, None)
        said, *table = terminal.shown()
        assert said.startswith("left out: a node")
        assert [line.split()[0] for line in table] == ["done", "results", "now", "cluster", "models", "cost", "time"]
        assert "4 nodes, 12 of 16 GPUs held, 2 idle" in table[3] and max(map(len, table)) < 80
        tally.nodes, tally.gpus, tally.gpus_idle = 1, 0, 0
        progress.update(tally, None)
        assert len(terminal.shown()) == 1 + 6
    assert terminal.shown() == [said], "the table was left behind"
