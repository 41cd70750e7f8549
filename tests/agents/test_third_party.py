"""OpenHands, AIDE and mini-swe-agent as real packages in the real sandbox, judged by the real validators; no Ray."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from agents.third_party import (
    KEY,
    LOOK,
    MINI,
    OPENHANDS,
    PRICE,
    Behave,
    Played,
    Stage,
    aide_turns,
    write_solution,
)
from model.server import Answer

from mldevbench.catalog import Catalog
from mldevbench.records import Budget, StopReason, Usage

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

OURS = "in-the-harness-environment"  # named as no secret, so nothing would take it out of what is told
TOOLS = {"openhands": "terminal", "mini_swe_agent": "bash", "aide": "run_script"}


@pytest.fixture
def stage(tmp_path: Path, task_venv: Path) -> Stage:
    return Stage(tmp_path, task_venv)


def turns(agent: str, *commands: str) -> Behave:
    if agent == "aide":
        return aide_turns(*commands)
    return {"openhands": OPENHANDS, "mini_swe_agent": MINI}[agent].turns(*commands)


def play(stage: Stage, agent: str, behave: Behave, budget: Budget | None = None) -> Played:
    params = {"steps": 2, "drafts": 2} if agent == "aide" else {}
    return stage.play(Catalog.of([]).agent(agent), "nan_losses", behave, budget, **params)


def assert_nothing_left(stage: Stage, mark: str) -> None:
    """No workspace, and no process that was told the mark."""
    assert not list((stage.folder / "scratch").iterdir())
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            assert mark not in (folder / "cmdline").read_text(errors="replace")


@pytest.mark.parametrize("agent", TOOLS)
def test_it_solves_a_task_and_all_is_counted(stage: Stage, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_AUTH_TOKEN", "HF_TOKEN"):
        monkeypatch.setenv(name, OURS)
    # The best of AIDE's equal scripts is the first, which is the one that solves.
    commands = (f"{write_solution()}\n{LOOK}", LOOK) if agent == "aide" else (LOOK, write_solution())
    played = play(stage, agent, turns(agent, *commands))
    assert played.submitted.stop_reason is StopReason.FINISHED, played.submitted.detail
    verdict = played.verdict()
    assert verdict.passed, [check for check in verdict.checks if not check.passed]
    played.assert_counted()
    acted = [step for step in played.steps if step.tool == TOOLS[agent]]
    assert len(acted) >= 2 and all(step.exit_code == 0 for step in acted)
    seen = next(step.text for step in acted if "torch 2" in step.text)
    assert str(stage.task_venv / "bin" / "python") in seen.splitlines(), "the task's Python comes first"
    keys = {line.partition("=")[2] for line in seen.splitlines() if "KEY=" in line}
    assert len(keys) == 1 and keys.pop().startswith("run-"), "no key but the run's own"
    assert all(key not in step.text + (step.arguments or "") for step in played.steps for key in (KEY, OURS))
    if agent == "aide":
        assert played.steps[-1].tool == "best_solution" and played.steps[-1].exit_code == 0
        tree = [step.text for step in played.said("note") if step.text.startswith("node ")]
        assert len(tree) == 2 and "metric 0.5, good" in tree[0]


@pytest.mark.parametrize("agent", TOOLS)
def test_one_that_gives_up_fails(stage: Stage, agent: str) -> None:
    def gives_up(number: int, body: Mapping[str, Any]) -> Answer:
        return Answer("This is too hard for me.", prompt=90, completion=8)

    played = play(stage, agent, gives_up if agent != "mini_swe_agent" else turns(agent))
    assert not played.verdict().passed
    assert played.submitted.stop_reason is StopReason.FINISHED, played.submitted.detail
    played.assert_counted()
    assert played.submitted.usage.steps >= 1


# The server says that every answer costs much, so that two of them are nearly all that a budget holds.
HOLDS_TWO = {
    StopReason.STEPS: Budget(steps=2),
    StopReason.TOKENS: Budget(tokens=40_000),
    StopReason.USD: Budget(usd=PRICE.of(Usage(prompt_tokens=40_000)) or 0),
}


@pytest.mark.parametrize("reason", HOLDS_TWO)
@pytest.mark.parametrize("agent", TOOLS)
def test_the_budget_stops_it(stage: Stage, agent: str, reason: StopReason) -> None:
    mark = f"{600 + random.random():.9f}"
    leaves = f"setsid sleep {mark} > /dev/null 2>&1 & echo 'import math' > train.py"
    played = play(stage, agent, costly(turns(agent, *[leaves] * 9)), HOLDS_TWO[reason])
    assert played.submitted.stop_reason is reason, played.submitted.detail
    played.assert_counted()
    assert 2 <= played.submitted.usage.steps <= 3, (
        "a third may fit, where the server says more than the prompt was long"
    )
    assert any(step.tool == TOOLS[agent] for step in played.steps), "what it did before the stop is told"
    assert agent != "aide" or played.steps[-1].tool == "best_solution", "what was found by then is put to work"
    checks = played.verdict().checks
    assert checks and not played.verdict().passed, "what it left is judged, and this can't be called"
    assert_nothing_left(stage, mark)


@pytest.mark.parametrize("agent", TOOLS)
def test_its_time_is_up(stage: Stage, agent: str) -> None:
    mark = f"{600 + random.random():.9f}"
    played = play(stage, agent, turns(agent, *[f"sleep {mark}"] * 9), Budget(minutes=0.4, wall_minutes=10))
    assert played.submitted.stop_reason is StopReason.MINUTES, played.submitted.detail
    played.assert_counted()
    assert not played.verdict().passed
    assert_nothing_left(stage, mark)


def test_aide_keeps_time_for_its_best_script(stage: Stage) -> None:
    """A second script that never ends takes no time from the first, which solves the task."""
    mark = f"{600 + random.random():.9f}"
    behave = turns("aide", write_solution(), f"sleep {mark}")
    played = stage.play(Catalog.of([]).agent("aide"), "nan_losses", behave, Budget(minutes=1.5, wall_minutes=10))
    assert played.submitted.stop_reason is StopReason.MINUTES, played.submitted.detail
    assert played.steps[-1].tool == "best_solution" and played.verdict().passed
    played.assert_counted()
    assert_nothing_left(stage, mark)


def costly(behave: Behave) -> Behave:
    def answer(number: int, body: Mapping[str, Any]) -> Answer:
        said = behave(number, body)
        assert isinstance(said, Answer)
        return replace(said, prompt=15_000, completion=400, cached=0)

    return answer
