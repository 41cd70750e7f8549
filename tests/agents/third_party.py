"""Real third-party agents against a scripted server: how they are run in tests, and the turns that each understands."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from model.server import Answer, Behaviour, ModelServer, Tally

from mldevbench import agent_venv
from mldevbench.agent import Agent
from mldevbench.catalog import Catalog
from mldevbench.digest import canonical
from mldevbench.draw import Draw
from mldevbench.errors import UserError
from mldevbench.execute import Attempt, Means, Order
from mldevbench.model.price import Price
from mldevbench.model.spec import ModelSpec
from mldevbench.records import AgentSpec, Budget, Run, Step, Submitted, Verdict
from mldevbench.store.place import open_place
from mldevbench.trajectory import stored_steps
from mldevbench.validate import RoomSettings, validate_submission

KEY = "sk-planted-in-a-test-0123456789"
PRICE = Price(2.5, 10, 1.25)
Behave = Callable[[int, Mapping[str, Any]], Behaviour]


@dataclass(frozen=True)
class Played:
    submitted: Submitted
    steps: list[Step]
    tally: Tally
    verdict: Callable[[], Verdict]

    def said(self, role: str) -> list[Step]:
        return [step for step in self.steps if step.role == role]

    def assert_counted(self) -> None:
        """The server's own count is the judge: steps, tokens and cost agree with it and with the trajectory."""
        usage, tally, called = self.submitted.usage, self.tally, self.said("model")
        assert (usage.steps, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (
            tally.served, tally.prompt, tally.completion, tally.cached,
        )  # fmt: skip
        assert usage.cost_usd == pytest.approx(PRICE.of(usage), rel=1e-12)
        assert len(called) == usage.steps
        assert sum(step.usage.total_tokens for step in called) == usage.total_tokens
        assert tally.keys <= {KEY}


def venv_of(agent: Agent) -> Path:
    """Return the agent's venv, installed now if it must be; what is missing is said, never passed over."""
    assert agent.file.venv is not None
    try:
        return agent_venv.build(agent.folder, agent.file.venv)
    except UserError as error:
        if "isn't found" in str(error):
            pytest.skip(f"{agent.id}: {error}")
        raise


@dataclass(frozen=True)
class Stage:
    """Where one test plays."""

    folder: Path
    task_venv: Path

    def play(
        self, agent: Agent, task_name: str, behave: Behave, budget: Budget | None = None, **params: object
    ) -> Played:
        task = Catalog.of([]).task(task_name)
        venv = venv_of(agent) if agent.file.venv else None
        with ModelServer(behave) as server:
            model = ModelSpec("openai/tested", api_base=server.base, key=KEY, price=PRICE, patience_seconds=20)
            spec = AgentSpec(agent.id, agent.id, agent.digest(), model.name, canonical(agent.settings(params)))
            run = Run(spec, task.id, task.category, "digest", "mini", 0, 0, budget or Budget())
            draw = Draw.of(bytes(32), task.id, 0)
            order = Order("study", run, 1, draw, "bubblewrap", model=model, secrets=(KEY,))
            place = open_place(str(self.folder / "study"))
            means = Means(
                task=task, agent=agent, venv=self.task_venv, scratch=self.folder / "scratch", place=place,
                agent_venv=venv,
            )  # fmt: skip
            submitted = Attempt(order, means).execute()

        @functools.cache
        def verdict() -> Verdict:
            settings = RoomSettings("bubblewrap", self.task_venv, self.folder / "judge")
            archive = self.folder / "study" / submitted.archive
            return validate_submission(task, archive, submitted.digest, draw, "mini", settings)

        steps = stored_steps(place.child(f"artifacts/{submitted.run_id}/1"))
        return Played(submitted, steps, server.tally, verdict)


def solution() -> str:
    return (Catalog.of([]).task("nan_losses").folder / "solution" / "train.py").read_text(encoding="utf-8")


LOOK = "env | sort; which python; python -c 'import torch; print(\"torch\", torch.__version__)'"


@dataclass(frozen=True)
class Speech:
    """The words that one agent understands."""

    agent: str
    act: Callable[[str], Answer]  # run a command in its shell
    end: Answer
    params: Mapping[str, object]

    def turns(self, *commands: str) -> Behave:
        """Play commands one after the other, then the end."""
        answers = [self.act(command) for command in commands]
        return lambda number, body: answers[number] if number < len(answers) else self.end

    def for_ever(self, command: str) -> Behave:
        return lambda number, body: self.act(command)


def call(tool: str, **arguments: object) -> Answer:
    return Answer("I act.", ((tool, json.dumps(arguments)),), prompt=120, completion=20, cached=40)


def write_solution() -> str:
    return f"cat > train.py <<'END_OF_FILE'\n{solution()}\nEND_OF_FILE"


OPENHANDS = Speech(
    "openhands", lambda command: call("terminal", command=command), call("finish", message="It is done."), {}
)
MINI = Speech(
    "mini_swe_agent",
    lambda command: call("bash", command=command),
    call("bash", command="echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"),
    {},
)


def script(command: str) -> str:
    """Return a script that runs a shell command and prints a metric, as AIDE's do."""
    ran = f"subprocess.run({command!r}, shell=True, capture_output=True, text=True)"
    return f"import subprocess\n\nprint({ran}.stdout)\nprint(0.5)\n"


def aide_turns(*commands: str) -> Behave:
    """Answer AIDE's two kinds of question: for a script, and for a review of how it did."""
    answers = [
        Answer(f"A plan.\n\n```python\n{script(command)}\n```", prompt=300, completion=60) for command in commands
    ]
    review = {"is_bug": False, "summary": "It works.", "metric": 0.5, "lower_is_better": True}
    written = iter(range(10_000))

    def behave(number: int, body: Mapping[str, Any]) -> Behaviour:
        if body.get("tools"):
            return call("submit_review", **review)
        return answers[min(next(written), len(answers) - 1)]

    return behave
