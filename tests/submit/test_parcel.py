"""What travels with a job, what is refused before anything is sent, and what an end means."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Cli

from cluster.submit import exit_code, server_of
from mldevbench.cli.parcel import parcel_of
from mldevbench.errors import UserError

pytestmark = pytest.mark.slow

ORACLE = ("--agent", "oracle", "--task", "hello_world")
AWAY = ("--storage", "/shared/studies")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clean_environment: None) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine" / "tasks" / "trial").mkdir(parents=True)
    (tmp_path / "mine" / "results").mkdir()
    (tmp_path / "mine" / "tasks" / "trial" / ".gitignore").write_text("*.csv", encoding="utf-8")
    (tmp_path / "mine" / "tasks" / "trial" / "data.csv").write_text("1", encoding="utf-8")
    (tmp_path / "solver").mkdir()
    (tmp_path / "turns.yaml").write_text("turns: []", encoding="utf-8")
    (tmp_path / "keys").write_text("OPENAI_API_KEY=sk-0123456789", encoding="utf-8")
    text = "name: mine\nagents: [{agent: ./solver, model: scripted/turns.yaml}]\nstorage: s3://bucket/studies\n"
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def test_relative_paths_travel_and_absolute_ones_do_not(here: Path) -> None:
    parcel = parcel_of("run", ["study.yaml", "--root", "mine", "--root", "/shared/tasks", "--task", "quick"])
    assert parcel.name == "mine"
    assert [str(path) for path in parcel.paths] == ["study.yaml", "mine/tasks", "solver", "turns.yaml"]
    parcel.lay_out(here / "job")
    names = {str(path.relative_to(here / "job")) for path in (here / "job").rglob("*")}
    assert {"study.yaml", "mine/tasks/trial", "solver", "turns.yaml", "cluster/driver.py", "tasks", "agents"} <= names
    assert "mine/tasks/trial/data.csv" in names
    assert not {name for name in names if name.endswith("ignore")}, "Ray would leave out what they name"
    assert not {name for name in names if "__pycache__" in name or name in ("mine/results", "tests", ".git", "keys")}


def test_what_the_shell_says_goes_along_as_options(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLDEVBENCH_STORAGE", "/shared/studies")
    monkeypatch.setenv("MLDEVBENCH_CACHE", "/home/me/cache")
    monkeypatch.setenv("MLDEVBENCH_TASK", "hello_world nan_losses")
    monkeypatch.setenv("MLDEVBENCH_FRESH_ACTORS", "1")
    words = parcel_of("run", ["--agent", "oracle", "--name", "s"]).words
    assert words[:5] == ("run", "--agent", "oracle", "--name", "s")
    added = ["--task", "hello_world", "--task", "nan_losses", "--storage", "/shared/studies", "--fresh-actors"]
    assert list(words[5:]) == added


@pytest.mark.parametrize("command", ["variance", "scale"])
def test_studies_are_read_as_the_cluster_will_read_them(here: Path, command: str) -> None:
    parcel = parcel_of(
        command, ["s", *AWAY, "--agent", "./solver", "--model", "scripted/turns.yaml", "--task", "quick"]
    )
    assert (parcel.name, [str(path) for path in parcel.paths]) == ("s", ["solver", "turns.yaml"])
    assert parcel_of(command, ["study.yaml", *AWAY]).name == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (ORACLE, "--storage 'results' is relative"),
        ((*ORACLE, "--storage", "here"), "--storage 'here' is relative"),
        ((*ORACLE, *AWAY, "--env-file", "keys"), "keys don't travel"),
        (("--agent", "../solver", *AWAY), "lies above this folder"),
        (("--agent", "./gone", *AWAY), "gone isn't there"),
        (("gone.yaml",), "study file 'gone.yaml' isn't there"),
    ],
)
def test_what_cannot_work_there_is_refused_here(here: Path, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(UserError) as refused:
        parcel_of("run", words)
    assert said in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("status", "driver", "code"),
    [
        ("SUCCEEDED", 0, 0),
        ("FAILED", 3, 3),
        ("FAILED", -9, 137),
        ("FAILED", None, 1),
        ("STOPPED", None, 130),
        ("STOPPED", 130, 130),
    ],
)
def test_an_end_in_our_exit_codes(status: str, driver: int | None, code: int) -> None:
    assert exit_code(status, driver) == code


def test_the_server_is_what_was_said_else_what_ray_would_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "http://head:8265")
    monkeypatch.delenv("RAY_API_SERVER_ADDRESS", raising=False)
    assert server_of("http://other:8265") == "http://other:8265"
    assert server_of(None) == "http://head:8265"
    assert server_of("other:8265") == "http://other:8265"
    assert server_of("auto") == "http://127.0.0.1:8265"
    with pytest.raises(UserError, match="jobs go to the dashboard"):
        server_of("ray://head:10001")


def test_a_server_that_is_not_there_is_one_line(cli: Cli) -> None:
    done = cli("submit", *ORACLE, *AWAY, "--address", "http://127.0.0.1:9")
    assert done.returncode == 2 and "no job server at http://127.0.0.1:9" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
