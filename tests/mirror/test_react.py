"""ReAct with a scripted model fetches what it needs with its own shell commands, in a whole study."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support import Cli

SCRIPT = Path(__file__).parent / "solving.yaml"
TASKS = ("dataset_download_noisy_imagenette", "pretrained_huggingface")


@pytest.mark.slow
def test_two_tasks_are_solved_through_the_mirror(cli: Cli, tmp_path: Path) -> None:
    model, tasks = f"scripted/{SCRIPT}", [word for task in TASKS for word in ("--task", task)]
    where = ["--name", "fetching", "--address", "local", "--storage", str(tmp_path / "results")]
    done = cli("run", "--agent", "react", "--model", model, "--price", f"{model}=0,0", "--seeds", "1", *tasks, *where)
    assert done.returncode == 0, done.stderr[-3000:]
    study = tmp_path / "results" / "fetching"
    rows = pq.read_table(study / "runs").to_pylist()
    assert {row["task"]: row["outcome"] for row in rows} == dict.fromkeys(TASKS, "passed"), done.stdout
    assert {row["network"] for row in rows} == {"none"}, "a mirror is the task's own; nothing else was open"
    paths = {row["task"]: asked(study, row["run_id"]) for row in rows}
    assert "/fast-ai-imageclas/imagenette2-160.tgz" in paths[TASKS[0]]
    assert any(path.endswith("/model.safetensors") for path in paths[TASKS[1]])


def asked(study: Path, run: str) -> list[str]:
    """Return what was asked of a run's mirror, by the log that is kept beside its submission."""
    (log,) = (study / "artifacts" / run).glob("*/requests.jsonl")
    return [json.loads(line)["path"] for line in log.read_text(encoding="utf-8").splitlines()]
