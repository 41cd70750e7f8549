"""W&B beside a study: an offline run read back from its file; and W&B that fails in every way it can."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support import Cli
from tracking.wandb_file import Logged, runs_below

from mldevbench.records import Outcome, RunRow
from mldevbench.reference import paper_rows
from mldevbench.store.place import Place, open_place
from mldevbench.store.study_store import StudyStore
from mldevbench.tracking import Choice, Tracker
from mldevbench.tracking import tracker as tracking
from mldevbench.tracking.message import Subject

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# Stand-ins for a W&B that is broken: each in its own way.
BROKEN = {
    "raises": """
class Failing:
    def __getattr__(self, name): return Failing()
    def __call__(self, *words, **options): raise ConnectionError("W&B is down")
def __getattr__(name): return Failing()
""",
    "raises later": """
class Failing:
    def define_metric(self, *words, **options): pass
    def __getattr__(self, name): return fail
def fail(*words, **options): raise ConnectionError("W&B is down")
def init(*words, **options): return Failing()
def Settings(*words, **options): pass
Table = Artifact = fail
""",
    "cannot be imported": "raise RuntimeError('W&B is down')",
    "hangs": "import time\ntime.sleep(3600)",
    "dies": "import os\nos._exit(9)",
}


def broken(tmp_path: Path, how: str) -> Path:
    folder = tmp_path / "broken" / "wandb"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(BROKEN[how], encoding="utf-8")
    return folder.parent


def some_rows(place: Place) -> list[RunRow]:
    rows = [
        replace(paper_rows()[0], label="a", run_id=f"{seed:016x}", seed=seed, outcome=Outcome.PASSED)
        for seed in range(3)
    ]
    StudyStore(place).runs.put(0, rows)
    return rows


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_wandb_costs_nothing_but_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setenv("PYTHONPATH", str(broken(tmp_path, how)))
    monkeypatch.setattr(tracking, "CLOSE_SECONDS", 120.0 if how != "hangs" else 2.0)
    place, said = open_place(str(tmp_path / "s")), []
    rows = some_rows(place)
    tracker = Tracker(Choice("offline"), place, "s", (Subject("a", "id", 3),), said.append)
    for row in rows * 1000:  # more than what may wait
        tracker.update(1, row)
    tracker.close()
    assert tracker._process.poll() is not None
    if how == "hangs":
        assert said == ["W&B: took too long to end and was left; the study is whole"]
    elif how == "dies":
        assert said == []
    else:
        complaints = [line for line in said if "W&B is down" in line]
        assert len(complaints) == 1 and "the study goes on without it" in complaints[0], said


def test_a_study_goes_on_while_every_call_of_wandb_fails(
    cli: Cli, plugins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(broken(tmp_path, "raises")))
    done = cli("run", "--name", "s", "--root", str(plugins), "--agent", "worker", "--task", "quick", "--seeds", "3",
               "--wandb", "online")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("W&B is down") == 1 and "3 of 3 runs done" in done.stderr
    assert len(list(StudyStore(open_place(str(tmp_path / "results" / "s"))).runs.all())) == 3
    assert runs_below(tmp_path / "results" / "s") == []


def waited(folder: Path, number: int) -> list[Logged]:
    """Return the runs once each has its last record: W&B's own process may still be writing."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = runs_below(folder)
        if len(found) == number and all(run.ended for run in found):
            return found
        time.sleep(0.2)
    raise AssertionError(f"no {number} ended W&B runs below {folder}")


def test_an_offline_run_is_read_back(cli: Cli, plugins: Path, tmp_path: Path) -> None:
    words = ("run", "--name", "s", "--root", str(plugins), "--agent", "worker", "--agent", "noop", "--task", "quick",
             "--wandb", "offline")  # fmt: skip
    done = cli(*words, "--seeds", "3", timeout=600)
    assert done.returncode == 0 and "took too long" not in done.stderr, done.stderr
    assert "W&B: offline; send it with: wandb sync" in done.stderr
    folder = tmp_path / "results" / "s"
    first = {run.name: run for run in waited(folder, 2)}
    assert set(first) == {"worker", "noop"}
    check_worker(first["worker"], folder)
    assert first["noop"].history[-2]["success"] == 0.0
    more = cli(*words, "--seeds", "4", timeout=600)
    assert more.returncode == 0 and "took too long" not in more.stderr, more.stderr
    again = [run for run in waited(folder, 4) if run.name == "worker"]
    assert {run.run_id for run in again} == {first["worker"].run_id}, "a second W&B run for the same label"
    resumed = next(run for run in again if run.config["planned"] == 4)
    assert [line["done"] for line in resumed.history if "success" in line] == [4]


def check_worker(run: Logged, folder: Path) -> None:
    assert (run.project, run.group) == ("mldevbench", "s")
    assert str(folder) in run.notes and run.config["results"] == str(folder)
    expected = {"study": "s", "label": "worker", "agent": "worker", "model": None, "tasks": ["quick"],
                "seeds": [0, 1, 2], "planned": 3, "profile": "mini"}  # fmt: skip
    assert expected.items() <= run.config.items()
    lines = [line for line in run.history if "success" in line]
    assert [line["done"] for line in lines] == [1, 2, 3]
    assert lines[-1]["progress"] == 1.0 and lines[-1]["success"] == pytest.approx(2 / 3)
    assert lines[-1]["spent_usd"] == 0.0 and lines[-1]["passed"] == 2
    tables = {
        name.split("/")[1]: line[name]
        for line in run.history for name in line if name.startswith("tables/") and name.endswith("/path")
    }  # fmt: skip
    assert set(tables) == {"runs", "by_category", "by_task"}
    (by_task,) = folder.glob(f"wandb/offline-run-*/files/{tables['by_task']}")
    assert json.loads(by_task.read_text(encoding="utf-8"))["data"] == [["quick", 2, 3, 0, 2 / 3]]
    (artifact,) = [one for one in run.artifacts if one.type == "results"]
    files = {entry.path: entry.local_path for entry in artifact.manifest.contents}
    assert artifact.name == "s-worker" and set(files) == {"runs.parquet", "attempts.parquet", "checks.parquet"}
    table = pq.read_table(files["runs.parquet"])
    assert sorted(table.column("seed").to_pylist()) == [0, 1, 2]
    assert set(table.column("label").to_pylist()) == {"worker"}
