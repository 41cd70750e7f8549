"""Agents' own venvs: which Python, built once, said in one line when it can't be."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from support import Cli

from mldevbench import agent_venv
from mldevbench.agent import load_agent
from mldevbench.agent_venv.python import find
from mldevbench.errors import UserError
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import SandboxSpec
from mldevbench.task_venv import building as task_venv_building

OURS = f"{sys.version_info[0]}.{sys.version_info[1]}"


def agent_folder(parent: Path, python: str = OURS, packages: str = "") -> Path:
    folder = parent / "tried"
    folder.mkdir()
    text = f'version: 1\nsummary: x\nvenv: {{python: "{python}"}}\ncommand: {{run: ["true"]}}\n'
    (folder / "agent.yaml").write_text(text, encoding="utf-8")
    (folder / "requirements.txt").write_text(f"# pinned\n{packages}", encoding="utf-8")
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MLDEVBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_python_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"Python 3\.99 isn't found .* give --python PATH") as error:
        find(["3.99"])
    assert "\n" not in str(error.value)
    with pytest.raises(UserError, match=rf"is Python {OURS}; Python 3\.99 is needed"):
        find(["3.99"], Path(sys.executable))
    with pytest.raises(UserError, match="can't be run"):
        find([OURS], tmp_path / "nothing")
    found = find(["3.99", OURS])
    assert found.version == OURS and not (found.path.parent.parent / "pyvenv.cfg").exists(), "no venv's Python"


def test_a_version_that_yaml_would_misread_is_refused(tmp_path: Path) -> None:
    folder = agent_folder(tmp_path, python="3.12.1")
    with pytest.raises(UserError, match="write versions as"):
        load_agent(folder)


def test_what_is_in_it_names_it(tmp_path: Path, cache: Path) -> None:
    from mldevbench.agent_venv import building

    agent = load_agent(agent_folder(tmp_path))
    assert agent.file.venv is not None
    before = building._place(agent.folder, agent.file.venv, OURS)
    (agent.folder / "requirements.txt").write_text("# other words\n", encoding="utf-8")
    assert building._place(agent.folder, agent.file.venv, OURS) == before, "a comment changes nothing"
    (agent.folder / "requirements.txt").write_text("x==1\n", encoding="utf-8")
    assert building._place(agent.folder, agent.file.venv, OURS) != before
    (agent.folder / "requirements.txt").unlink()
    with pytest.raises(UserError, match=r"isn't there, but agent.yaml names it"):
        agent_venv.installed(agent.folder, agent.file.venv)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_that_ask_at_once_build_it_once_and_a_sandbox_sees_it(tmp_path: Path, cache: Path, task_venv: Path) -> None:
    agent = load_agent(agent_folder(tmp_path))
    file = agent.file.venv
    assert file is not None and agent_venv.installed(agent.folder, file) is None
    begun: list[str] = []

    def build() -> None:
        agent_venv.build(agent.folder, file, tell=lambda done, total, what: begun.append(what))

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum("a venv of Python" in what for what in begun) == 1
    venv = agent_venv.installed(agent.folder, file)
    assert venv is not None and venv.parent == cache
    (tmp_path / "w").mkdir()
    with open_sandbox(SandboxSpec(tmp_path / "w", venv=task_venv, agent_venv=venv), "bubblewrap") as sandbox:
        asked = "import sys; print(sys.prefix)"
        own = sandbox.run([f"{venv}/bin/python", "-I", "-c", asked], seconds=60)
        first = sandbox.run(["python", "-I", "-c", asked], seconds=60)
        write = sandbox.run(["bash", "-c", f"touch {venv}/x"], seconds=60)
    assert own.output.decode().strip() == str(venv) and first.output.decode().strip() == str(task_venv)
    assert write.exit_code != 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_pip_says_is_passed_on(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    agent = load_agent(agent_folder(tmp_path, packages="no-such-package-anywhere==1"))
    assert agent.file.venv is not None
    with pytest.raises(UserError, match=r"installing failed at -m pip install: ERROR: No matching distribution"):
        agent_venv.build(agent.folder, agent.file.venv)
    assert agent_venv.installed(agent.folder, agent.file.venv) is None


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_without_installing_a_missing_agent_stops_the_study_before_it_starts(
    cli: Cli, tmp_path: Path, cache: Path
) -> None:
    there = task_venv_building._place()  # that one must not be what is missing
    there.mkdir(parents=True)
    (there / ".ready").touch()
    folder = agent_folder(tmp_path)
    (tmp_path / "turns.yaml").write_text("turns: []", encoding="utf-8")
    words = ("--agent", str(folder), "--model", "scripted/turns.yaml", "--task", "hello_world", "--no-install")
    done = cli("run", *words)
    assert done.returncode == 2 and "agent 'tried' isn't installed here; run 'mldevbench agents install" in done.stderr
