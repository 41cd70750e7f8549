"""`mldevbench submit` against a real head with token authentication: detach, attach, stop, edit, submit again."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

REPOSITORY = Path(__file__).parents[2]
SCENE = Path(__file__).parent / "scene.py"
LEFT_OUT = shutil.ignore_patterns("__pycache__")


@pytest.fixture
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="s", dir="/tmp"))  # Ray's sockets bear no long path
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def checkout(folder: Path, plugins: Path) -> Path:
    """Return a copy of our code that may be edited, with plug-ins of its own."""
    for name in ("mldevbench", "cluster", "agents", "tasks", "ray_configs"):
        shutil.copytree(REPOSITORY / name, folder / "checkout" / name, ignore=LEFT_OUT)
    shutil.move(plugins, folder / "checkout" / "mine")
    return folder / "checkout"


def play(folder: Path, checkout: Path) -> dict[str, Any]:
    answer = folder / "answer.json"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "RAY_TMPDIR": str(folder / "ray")}
    (folder / "ray").mkdir()
    alone = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    command = [*alone, sys.executable, str(SCENE), str(checkout), str(folder / "r"), str(answer)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=880, check=False)
    assert done.returncode == 0, done.stderr[-3000:] + (folder / "head.log").read_text(encoding="utf-8")[-2000:]
    return json.loads(answer.read_text(encoding="utf-8"))


def test_a_study_is_submitted_stopped_edited_and_submitted_again(
    folder: Path, checkout: Path, clean_environment: None
) -> None:
    if os.geteuid() != 0:
        pytest.skip("namespaces need root here")
    said = play(folder, checkout)
    assert said["stranger"]["code"] == 2 and "refused us" in said["stranger"]["out"]
    ours = [line for line in said["stranger"]["out"].splitlines() if "network_util" not in line]
    assert len(ours) == 1 and ours[0].startswith("mldevbench: "), said["stranger"]["out"]
    assert said["detached"]["code"] == 130 and "detached; job s-" in said["detached"]["out"], said["detached"]
    assert said["still"]["status"] == "RUNNING"
    assert said["stopped"]["code"] == 130, said["stopped"]
    assert "interrupted: what is finished stays" in said["stopped"]["out"]
    assert said["again"]["code"] == 0, said["again"]
    assert "EDITED" in said["again"]["out"] and "3 of 3 runs done" in said["again"]["out"]
    assert said["relative"]["code"] == 2, said["relative"]
    (line,) = [line for line in said["relative"]["out"].splitlines() if line.startswith("mldevbench:")]
    assert "--storage 'results' is relative to the job's folder" in line
    assert said["literal"]["code"] == 0 and "1 of 1 runs done: 1 passed" in said["literal"]["out"], said["literal"]
    assert said["token"] not in json.dumps({name: value for name, value in said.items() if name != "token"})
    store = StudyStore(open_place(str(folder / "r" / "s")))
    rows = list(store.runs.all())
    assert sorted((row.seed, row.outcome) for row in rows) == [(seed, Outcome.PASSED) for seed in range(3)]
    first = next(row for row in rows if row.seed == 0)
    assert first.attempts == 1, "what was finished before the stop was run again"
    assert told(said["metrics"], "mldevbench_runs", state="passed") == 1
    assert told(said["metrics"], "mldevbench_runs", state="running") == 2
    assert told(said["metrics"], "mldevbench_runs", state="owed") == 2
    assert told(said["metrics"], "mldevbench_gpu_seconds") > 0
    assert told(said["metrics"], "mldevbench_wait_seconds_count", kind="queue") == 1


def told(text: str, name: str, **labels: str) -> float:
    """Return the one value that Prometheus would read for a name and labels."""
    wanted = [f'{key}="{value}"' for key, value in {"study": "s", **labels}.items()]
    lines = [line for line in text.splitlines() if re.match(rf"ray_{name}(_total)?{{", line)]
    (line,) = [line for line in lines if all(label in line for label in wanted)] or ["absent nan"]
    return float(line.rsplit(" ", 1)[1])
