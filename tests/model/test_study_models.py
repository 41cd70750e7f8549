"""Whole studies against a server on loopback: what Parquet says, what an outage does, and where the key is."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from model.server import Answer, Behaviour, Cut, Garbage, Hang, ModelServer, Refusal
from support import Cli

from mldevbench.model.price import Price
from mldevbench.records import Cause, Outcome, RunRow
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = pytest.mark.slow

KEY = "sk-planted-in-a-test-0123456789abcdef"
PRICE = Price(2.5, 10, 1.25)
GREET = 'line=$(cat greeting.txt); echo "print(\\"$line\\")" > hello.py; env; cat /proc/*/environ /proc/*/cmdline'
FAULTS: list[Behaviour] = [Refusal(429, retry_after="0.2"), Hang(), Garbage(), Cut(), Refusal(500), Refusal(503)]


def solving(number: int, body: Mapping[str, Any]) -> Answer:
    """Solve hello_world in two turns, whatever the order in which runs come."""
    if any(message["role"] == "tool" for message in body["messages"]):
        return Answer("It prints the line.", prompt=150 + number, completion=6, cached=100)
    return Answer("", (("shell", json.dumps({"command": GREET})),), prompt=90 + number, completion=21, reasoning=4)


@pytest.fixture
def ray_folder(monkeypatch: pytest.MonkeyPatch, clean_environment: None) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))  # Ray's sockets bear no long path
    monkeypatch.setenv("RAY_TMPDIR", str(folder))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def study(tmp_path: Path, server: ModelServer, **model: Any) -> list[str]:
    price = {"input": PRICE.input, "output": PRICE.output, "cached": PRICE.cached}
    settings = {"api_base": server.base, "price": price, "patience": 30, **model}
    file = tmp_path / "study.yaml"
    content = {
        "name": "s",
        "agents": [{"agent": "react", "model": "openai/tested"}],
        "models": {"openai/tested": settings},
        "tasks": ["hello_world"],
        "seeds": 4,
        "sandbox": "bubblewrap",
    }
    file.write_text(yaml.safe_dump(content), encoding="utf-8")
    return ["run", str(file)]


def rows(tmp_path: Path) -> list[RunRow]:
    return list(StudyStore(open_place(str(tmp_path / "results" / "s"))).runs.all())


def holding(folder: Path, secret: str) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert files, folder
    return [path for path in files if secret.encode() in path.read_bytes()]


def test_parquet_says_what_the_server_served_and_the_key_is_nowhere(cli: Cli, tmp_path: Path, ray_folder: Path) -> None:
    def behave(number: int, body: Mapping[str, Any]) -> Behaviour:
        return FAULTS[number // 3 % len(FAULTS)] if number % 3 == 0 else solving(number, body)

    with ModelServer(behave) as server:
        done = cli(*study(tmp_path, server, timeout=20))
        assert done.returncode == 0, done.stderr[-2000:]
        found, tally = rows(tmp_path), server.tally
    assert tally.requests > 9, "the hang and the cut were not met"
    assert [row.outcome for row in found] == [Outcome.PASSED] * 4
    assert sum(row.steps for row in found) == tally.served == 8
    assert sum(row.prompt_tokens for row in found) == tally.prompt
    assert sum(row.completion_tokens for row in found) == tally.completion
    assert sum(row.cached_tokens for row in found) == tally.cached
    assert sum(row.reasoning_tokens for row in found) == tally.reasoning
    fresh = tally.prompt - tally.cached
    cost = (fresh * PRICE.input + tally.cached * (PRICE.cached or 0) + tally.completion * PRICE.output) / 1e6
    assert sum(row.cost_usd or 0 for row in found) == pytest.approx(cost, rel=1e-9)
    assert {row.model_served for row in found} == {"tested-2026"}
    assert tally.keys == {KEY}
    assert sorted({body["seed"] for body in tally.bodies}) == [0, 1, 2, 3]
    assert holding(tmp_path / "results", KEY) == []
    assert holding(ray_folder, KEY) == [], "Ray's logs"
    assert KEY not in done.stdout + done.stderr


def test_an_outage_makes_voids_and_the_same_command_completes_the_study(
    cli: Cli, tmp_path: Path, ray_folder: Path
) -> None:
    down = threading.Event()
    down.set()

    def behave(number: int, body: Mapping[str, Any]) -> Behaviour:
        return Refusal(503) if down.is_set() else solving(number, body)

    with ModelServer(behave) as server:
        words = [*study(tmp_path, server, patience=0.3), "--void-retries", "0"]
        first = cli(*words)
        assert first.returncode == 3, first.stderr[-2000:]
        assert {(row.outcome, row.cause) for row in rows(tmp_path)} == {(Outcome.VOID, Cause.PROVIDER_ERROR)}
        down.clear()
        second = cli(*words)
        assert second.returncode == 0, second.stderr[-2000:]
        assert [row.outcome for row in rows(tmp_path)] == [Outcome.PASSED] * 4


def test_a_wrong_key_stops_the_study_with_one_line(cli: Cli, tmp_path: Path, ray_folder: Path) -> None:
    with ModelServer(lambda number, body: Refusal(401, "Incorrect API key provided")) as server:
        done = cli(*study(tmp_path, server))
        assert done.returncode == 2, done.stderr[-2000:]
        assert "check the key" in done.stderr and "Traceback" not in done.stderr
        assert KEY not in done.stdout + done.stderr
        assert server.tally.requests <= 4


def test_a_recorded_study_is_played_again(cli: Cli, tmp_path: Path, ray_folder: Path) -> None:
    script = tmp_path / "greet.yaml"
    turns = [{"calls": [{"shell": {"command": GREET}}]}, {"text": "It prints the line."}]
    script.write_text(yaml.safe_dump({"turns": turns}), encoding="utf-8")
    asked = ["run", "--agent", "react", "--task", "hello_world"]
    first = cli(*asked, "--name", "first", "--model", f"scripted/{script}")
    assert first.returncode == 0, first.stderr[-2000:]
    again = cli(*asked, "--name", "again", "--model", "replay/first")
    assert again.returncode == 0, again.stderr[-2000:]
    (row,) = StudyStore(open_place(str(tmp_path / "results" / "again"))).runs.all()
    assert (row.outcome, row.steps, row.model_served) == (Outcome.PASSED, 2, "replay/first")
    missing = cli(*asked, "--name", "third", "--model", "replay/none")
    assert missing.returncode == 2 and "replay/none" in missing.stderr
