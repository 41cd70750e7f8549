"""One study of the paper's agents, for real but for their model, on four simulated nodes: one table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from agents.third_party import script, venv_of

from mldevbench.catalog import Catalog
from mldevbench.records import RunRow
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

NODES = Path(__file__).parents[1] / "cluster" / "nodes.py"
TASKS = {
    "hello_world": "Print a greeting",
    "nan_losses": "Training that gives NaN",
    "large_training_logs": "What became of a training",
}
REVIEW = {"is_bug": False, "summary": "It works.", "metric": 0.5, "lower_is_better": True}


def solving(task: str) -> str:
    """Return a shell command that does what the reference solution does."""
    folder = Catalog.of([]).task(task).folder / "solution"
    parts = []
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8")
        parts.append(text if path.name == "solve.sh" else f"cat > {path.name} <<'END_OF_FILE'\n{text}\nEND_OF_FILE")
    return "\n".join(parts)


def turns_of(agent: str, task: str) -> list[dict[str, object]]:
    command = solving(task)
    if agent == "react":
        return [{"calls": [{"shell": {"command": command}}]}, {"text": "done"}]
    if agent == "openhands":  # whose terminal takes one command at a time
        command = f"bash <<'END_OF_SCRIPT'\n{command}\nEND_OF_SCRIPT"
        return [{"calls": [{"terminal": {"command": command}}]}, {"calls": [{"finish": {"message": "done"}}]}]
    return [{"text": f"A plan.\n\n```python\n{script(command)}\n```"}, {"calls": [{"submit_review": REVIEW}]}]


def rows_of(folder: Path) -> list[RunRow]:
    return list(StudyStore(open_place(str(folder))).runs.all())


@pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace needs root here")
def test_the_papers_agents_in_one_study(tmp_path: Path, clean_environment: None) -> None:
    catalog = Catalog.of([])
    words: list[str] = []
    for agent in ("react", "openhands", "aide"):
        if agent != "react":
            venv_of(catalog.agent(agent))
        scenes = [{"match": match, "turns": turns_of(agent, task)} for task, match in TASKS.items()]
        (tmp_path / f"{agent}.json").write_text(json.dumps({"scenes": scenes}), encoding="utf-8")
        words += ["--agent", f"{agent}=scripted/{agent}.json", "--price", f"scripted/{agent}.json=1,2"]
    words += ["--agent", "oracle", "--agent", "noop", "--param", "aide.steps=1", "--param", "aide.drafts=1"]
    words += [word for task in TASKS for word in ("--task", task)]
    command = ["unshare", "--net", sys.executable, str(NODES), "4", "1", "0", sys.executable, "-m", "cluster"]
    command += ["--name", "s", "--storage", str(tmp_path / "r"), "--seeds", "2", "--no-install", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=1700, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    rows = rows_of(tmp_path / "r" / "s")
    outcomes = Counter((row.agent, str(row.outcome)) for row in rows)
    assert outcomes == {
        ("react", "passed"): 6, ("openhands", "passed"): 6, ("aide", "passed"): 6, ("oracle", "passed"): 6,
        ("noop", "failed"): 6,
    }, [(row.agent, row.task, row.outcome, row.stop_reason) for row in rows]  # fmt: skip
    assert len({row.node for row in rows}) == 4
    for row in rows:
        assert_usage(row)
    assert "openhands-openhands" in done.stdout and "noop" in done.stdout, "one table holds them all"


def assert_usage(row: RunRow) -> None:
    """Every usage column is filled; an agent without a model has spent nothing, which is known."""
    talks = row.model is not None
    assert (row.steps > 0, row.prompt_tokens > 0, row.completion_tokens > 0) == (talks, talks, talks)
    assert row.total_tokens == row.prompt_tokens + row.completion_tokens
    assert row.cost_usd == pytest.approx((row.prompt_tokens + 2 * row.completion_tokens) / 1e6)
    assert row.spent_usd == row.cost_usd and row.model_served == ("scripted" if talks else None)
    assert row.wall_seconds >= row.working_seconds > 0 and row.isolation == "bubblewrap"
