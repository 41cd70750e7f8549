"""Whether an agent keeps to the contract: counted, stopped by its budget, recorded, and ended without a trace."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mldevbench import agent_venv
from mldevbench.agent import Agent
from mldevbench.digest import canonical
from mldevbench.draw import Draw
from mldevbench.errors import Fault, UserError
from mldevbench.execute import Attempt, Means, Order
from mldevbench.model.price import Price
from mldevbench.model.spec import ModelSpec
from mldevbench.records import AgentSpec, Budget, Check, Run, Step, StopReason, Submitted, Verdict
from mldevbench.store.place import open_place
from mldevbench.task import Task
from mldevbench.trajectory import stored_steps
from mldevbench.validate import RoomSettings, validate_submission

PRICE = Price(1, 2)
DONE = json.dumps({"turns": [], "then": "stop"})  # a model that has nothing to say
ENDLESS = json.dumps({"turns": [{"text": "late", "delay": 3600}]})
LEAST_MINUTES = 0.5


@dataclass(frozen=True)
class Trial:
    submitted: Submitted
    steps: list[Step]
    left: list[str]
    verdict: Callable[[], Verdict]

    @property
    def called(self) -> list[Step]:
        return [step for step in self.steps if step.role == "model"]


@dataclass(frozen=True)
class Ground:
    """Where an agent is tried."""

    agent: Agent
    task: Task
    venv: Path
    isolation: str

    def check(self, script: str | None) -> Iterator[Check]:
        """Yield one check after the other; with a script that solves the task it must be solved, too."""
        with self._trial(script or DONE, Budget(minutes=5)) as trial:
            yield from self._worked(trial, solves=script is not None)
        with self._trial(script or DONE, Budget(tokens=1, minutes=5)) as trial:
            reason = trial.submitted.stop_reason
            stopped = reason is StopReason.TOKENS and trial.submitted.usage.steps == 0
            yield Check("budget stops it", stopped, "stopped by tokens before the first call", _told(trial))
        with self._trial(ENDLESS, Budget(minutes=LEAST_MINUTES, wall_minutes=LEAST_MINUTES * 4)) as trial:
            ended = trial.submitted.stop_reason in (StopReason.MINUTES, StopReason.WALL_MINUTES)
            yield Check("clean kill", ended and not trial.left, "ended when its time is up, nothing left", _told(trial))

    def _worked(self, trial: Trial, solves: bool) -> Iterator[Check]:
        usage, told = trial.submitted.usage, _told(trial)
        ended = trial.submitted.stop_reason is StopReason.FINISHED
        yield Check("ends by itself", ended, "finished", f"{told} {trial.submitted.detail}".strip())
        yield Check("metering", usage.steps > 0, "calls of the model are counted", told)
        tokens = sum(step.usage.total_tokens for step in trial.called)
        agrees = len(trial.called) == usage.steps and tokens == usage.total_tokens
        yield Check(
            "trajectory",
            agrees,
            f"{usage.steps} turns, {usage.total_tokens} tokens",
            f"{len(trial.called)} turns, {tokens} tokens",
        )
        if solves:
            verdict = trial.verdict()
            seen = "; ".join(f"{check.name}: {check.seen}" for check in verdict.checks if not check.passed)
            yield Check(f"solves {self.task.id}", verdict.passed, "all checks hold", seen or "all hold")

    @contextmanager
    def _trial(self, script: str, budget: Budget) -> Iterator[Trial]:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            folder = Path(name)
            folder.chmod(0o711)
            yield self._attempt(script, budget, folder)

    def _attempt(self, script: str, budget: Budget, folder: Path) -> Trial:
        agent, task = self.agent, self.task
        model = ModelSpec("scripted/check", script=script, price=PRICE) if agent.file.needs_model else None
        spec = AgentSpec(
            agent.id, agent.id, agent.digest(), model.name if model else None, canonical(agent.settings({}))
        )
        run = Run(spec, task.id, task.category, "", "mini", 0, 0, budget)
        draw, place = Draw.of(bytes(32), task.id, 0), open_place(str(folder / "study"))
        venv = agent_venv.installed(agent.folder, agent.file.venv) if agent.file.venv else None
        scratch = folder / "scratch"
        means = Means(task=task, agent=agent, venv=self.venv, scratch=scratch, place=place, agent_venv=venv)
        submitted = Attempt(Order("check", run, 1, draw, self.isolation, model=model), means).execute()

        def verdict() -> Verdict:
            settings = RoomSettings(self.isolation, self.venv, folder / "judge")
            return validate_submission(
                task, folder / "study" / submitted.archive, submitted.digest, draw, "mini", settings
            )

        steps = stored_steps(place.child(f"artifacts/{run.run_id}/1"))
        return Trial(submitted, steps, [path.name for path in scratch.iterdir()], verdict)


def check_agent(ground: Ground, script: str | None) -> Iterator[Check]:
    """Check an agent; what breaks the attempt itself is a check that failed, too."""
    if not ground.agent.file.needs_model:
        raise UserError(f"agent {ground.agent.id!r} needs no model: there is nothing to meter")
    try:
        yield from ground.check(script)
    except Fault as error:
        yield Check("attempt", False, "no fault", str(error))


def _told(trial: Trial) -> str:
    usage = trial.submitted.usage
    return f"{trial.submitted.stop_reason}, {usage.steps} calls, {usage.total_tokens} tokens"
