"""A study as a Ray job, by the literal command of ray_configs/README.md; and where its key is not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
NODES = Path(__file__).parent / "nodes.py"
KEY = "sk-planted-in-a-job-0123456789abcdef"
# The model server runs in the same namespace, since nothing outside can be reached from there.
SCRIPT = """
import json, os, subprocess, sys, urllib.request
sys.path[:0] = [sys.argv[1]]
from model.server import ModelServer
storage, keys, answer = sys.argv[2:5]
with ModelServer() as server:
    job = ["ray", "job", "submit", "--address", "http://127.0.0.1:8265", "--runtime-env", "ray_configs/job.yaml",
           "--working-dir", ".", "--submission-id", "tested", "--",
           "python", "-m", "cluster", "--name", "s", "--agent", "react", "--model", "openai/tested",
           "--price", "openai/tested=1,2", "--api-base", server.base, "--task", "hello_world",
           "--storage", storage, "--env-file", keys]
    done = subprocess.run(job, capture_output=True, text=True)
    listed = subprocess.run([*job[:2], "list", *job[3:5]], capture_output=True, text=True)
    pages = [urllib.request.urlopen(f"http://127.0.0.1:8265/api/{name}").read().decode()
             for name in ("jobs/", "jobs/tested", "jobs/tested/logs", "v0/actors?detail=true")]
    said = {"code": done.returncode, "out": done.stdout + done.stderr, "listed": listed.stdout + listed.stderr,
            "pages": pages, "served": server.tally.served, "keys": sorted(server.tally.keys)}
open(answer, "w").write(json.dumps(said))
"""


@pytest.fixture
def ray_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))  # Ray's sockets bear no long path
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_job_runs_a_study_and_its_key_is_nowhere(tmp_path: Path, ray_folder: Path, clean_environment: None) -> None:
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root here")
    keys = tmp_path / "keys"
    keys.write_text(f"OPENAI_API_KEY={KEY}\n", encoding="utf-8")
    storage, answer = tmp_path / "r", tmp_path / "answer.json"
    inside = [sys.executable, "-c", SCRIPT, str(REPOSITORY / "tests"), str(storage), str(keys), str(answer)]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "RAY_TMPDIR": str(ray_folder), "DASHBOARD": "1", "PATH": path}
    command = ["unshare", "--net", sys.executable, str(NODES), "1", "2", "0", *inside]
    done = subprocess.run(
        command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=280, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads(answer.read_text(encoding="utf-8"))
    assert said["code"] == 0, said["out"][-3000:]
    assert said["keys"] == [KEY], "the key never reached the provider, so its absence elsewhere shows nothing"
    (row,) = StudyStore(open_place(str(storage / "s"))).runs.all()
    assert row.outcome is Outcome.FAILED and row.steps == said["served"] >= 1
    assert "tested" in said["listed"]
    assert KEY not in json.dumps({name: said[name] for name in ("out", "listed", "pages")})
    files = [path for folder in (storage, ray_folder) for path in folder.rglob("*") if path.is_file()]
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
