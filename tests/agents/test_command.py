"""Programs of any kind as agents, told about by one YAML file: small clients of ours, real Claude Code, real Codex."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from agents.third_party import Played, Stage
from model.server import Answer
from support import Cli

from mldevbench.agent import load_agent
from mldevbench.cache import cache_folder
from mldevbench.catalog import Catalog
from mldevbench.errors import UserError
from mldevbench.records import Budget, StopReason

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

CLIENTS = Path(__file__).parent / "clients"
GREET = 'line=$(cat greeting.txt); echo "print(\\"$line\\")" > hello.py; echo written'


@pytest.fixture
def stage(tmp_path: Path, task_venv: Path) -> Stage:
    return Stage(tmp_path, task_venv)


def folder_of(parent: Path, name: str, command: Mapping[str, Any], **more: Any) -> Path:
    folder = parent / name
    folder.mkdir()
    text = yaml.safe_dump({"version": 1, "summary": "A program.", "command": dict(command), **more})
    (folder / "agent.yaml").write_text(text, encoding="utf-8")
    return folder


def acts_once(tool: str, argument: str = "command") -> Any:
    """Call the tool in the first turn of a conversation that offers it; say in all others that it is done."""

    def behave(number: int, body: Mapping[str, Any]) -> Answer:
        offered = [one["function"]["name"] for one in body.get("tools") or []]
        acted = any(message["role"] == "tool" for message in body["messages"])
        if tool in offered and not acted:
            arguments = json.dumps({argument: GREET, "description": "writes the file"})
            return Answer("I act.", ((tool, arguments),), prompt=100, completion=10, cached=30)
        return Answer("It is done.", prompt=50, completion=5)

    return behave


def assert_solved(played: Played) -> None:
    assert played.submitted.stop_reason is StopReason.FINISHED, played.submitted.detail
    verdict = played.verdict()
    assert verdict.passed, [check for check in verdict.checks if not check.passed]
    played.assert_counted()
    assert played.submitted.usage.steps >= 2


@pytest.mark.parametrize("client", ["messages_client.py", "responses_client.py"])
def test_a_tool_using_turn_in_the_words_of_others(stage: Stage, client: str) -> None:
    command = {
        "run": ["python3", f"$agent/{client}"],
        "stdin": "$instruction",
        "environment": {"MODEL": "$model", "NOTE": "$greeting"},
        "log": "$workspace/hello.py",
    }
    folder = folder_of(stage.folder, "other_words", command, shows=[client], defaults={"greeting": "hello"})
    shutil.copy(CLIENTS / client, folder)
    played = stage.play(load_agent(folder), "hello_world", acts_once("bash"))
    assert_solved(played)
    assert [step.text.strip() for step in played.steps if step.tool == "python3"] == ["It is done."]
    assert next(step for step in played.steps if step.tool == "log").text.startswith("print(")
    assert any(step.role == "tool" and "written" in step.text for step in played.steps)


def test_a_program_that_breaks_is_its_own_failure(stage: Stage) -> None:
    folder = folder_of(stage.folder, "breaks", {"run": ["bash", "-c", "echo no luck; exit 3"]})
    played = stage.play(load_agent(folder), "hello_world", acts_once("bash"), Budget(minutes=5))
    assert played.submitted.stop_reason is StopReason.AGENT_ERROR
    assert "ended with 3: no luck" in played.submitted.detail


def test_a_program_that_is_not_there_is_said_in_one_line(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "nowhere", {"run": ["x"], "mounts": ["/nowhere/at/all"]})
    with pytest.raises(UserError, match="/nowhere/at/all isn't on this machine"):
        load_agent(folder).mounts()
    catalog = Catalog.of([])
    assert catalog.agent(str(folder)).id == "nowhere" and catalog.agent("nowhere").folder == folder.resolve()
    with pytest.raises(UserError, match="two folders are called"):
        catalog.agent(str(shutil.copytree(folder, tmp_path / "again" / "nowhere")))


def test_the_way_that_the_documents_show(cli: Cli, tmp_path: Path) -> None:
    """A new agent from one YAML file, checked, and run in a study by its folder."""
    made = cli("agents", "new", "my_agent")
    assert made.returncode == 0 and "mldevbench agents check ./my_agent" in made.stdout
    command = {
        "run": ["bash", "-c", f"{ASK} && {GREET}"],
        "environment": {"MODEL": "$model"},
    }
    text = yaml.safe_dump({"version": 1, "summary": "Asks once, then greets.", "command": command})
    (tmp_path / "my_agent" / "agent.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "my_agent" / "work.sh").unlink()
    (tmp_path / "turns.yaml").write_text("turns: [{text: Greet.}]", encoding="utf-8")
    checked = cli("agents", "check", "./my_agent", "--script", "turns.yaml", timeout=600)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert [line.split()[0] for line in checked.stdout.splitlines()] == ["ok"] * 6
    words = ("--agent", "./my_agent", "--model", "scripted/turns.yaml", "--task", "hello_world", "--json")
    ran = cli("run", *words, timeout=600)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["passed"] == 1


ASK = (
    'curl -sf $OPENAI_BASE_URL/chat/completions -H "Authorization: Bearer $OPENAI_API_KEY" '
    "-H 'Content-Type: application/json' "
    '-d "{\\"model\\": \\"$MODEL\\", \\"messages\\": [{\\"role\\": \\"user\\", \\"content\\": \\"hi\\"}]}"'
)


@dataclass(frozen=True)
class Real:
    """A program from npm, run as docs/agents.md shows it."""

    package: str
    part: str  # the part of what npm installs that the document puts below /opt
    tool: str
    argument: str

    def installed(self, name: str) -> Path:
        """Return its folder, filled once, or say why there is none."""
        folder = cache_folder() / f"test-{name}"
        if not (folder / "complete").is_file():
            if shutil.which("npm") is None:
                pytest.skip(f"{name}: npm is not installed")
            words = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", self.package]
            done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
            if done.returncode or not (folder / self.part).is_dir():
                pytest.skip(f"{name} can't be installed by npm: {done.stderr.strip()[-300:]}")
            (folder / "complete").touch()
        return folder / self.part


PROGRAMS = {
    "claude-code": Real(
        "@anthropic-ai/claude-code@2.1.197", "node_modules/@anthropic-ai/claude-code-linux-x64", "Bash", "command"
    ),
    "codex": Real("@openai/codex@0.166.0", ".", "exec_command", "cmd"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_real_programs_of_others(stage: Stage, name: str) -> None:
    real = PROGRAMS[name]
    place = real.installed(name)
    text = (Path(__file__).parents[2] / "docs" / "agents.md").read_text(encoding="utf-8")
    assert real.package in text, "the document names the version that is tested"
    shown = text.split(f"<!-- {name} -->")[1].split("```yaml")[1].split("```")[0]
    file = yaml.safe_load(shown.replace(f"/opt/{name}", str(place)))
    folder = folder_of(stage.folder, "real", file["command"])
    played = stage.play(load_agent(folder), "hello_world", acts_once(real.tool, real.argument))
    assert_solved(played)
    assert any("written" in step.text for step in played.steps if step.role == "tool")
