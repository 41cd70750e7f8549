"""What a study still owes, and the command that would run it."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

from mldevbench import frozen
from mldevbench.plan import plan
from mldevbench.records import AgentSpec, Budget, Outcome
from mldevbench.store.study_store import StudyStore
from mldevbench.study import Request


@dataclass(frozen=True)
class Owed:
    planned: int
    missing: int
    void: int
    command: str

    @property
    def line(self) -> str | None:
        """Return what to do about it, or None when nothing is owed."""
        if not self.missing and not self.void:
            return None
        return f"{self.missing} of {self.planned} runs are missing, {self.void} void; run them with: {self.command}"


def owed(store: StudyStore, storage: str) -> Owed:
    """Compare the frozen requests with the rows at hand."""
    requests = frozen.read_requests(store.place)
    planned = {run.run_id for run in plan(requests).runs}
    rows = {row.run_id: row for row in store.runs.all()}
    void = sum(row.outcome is Outcome.VOID for run_id, row in rows.items() if run_id in planned)
    command = run_command(store.name, requests[-1], storage) if requests else f"mldevbench run --name {store.name}"
    return Owed(len(planned), len(planned - rows.keys()), void, command)


def run_command(name: str, request: Request, storage: str) -> str:
    """Return the call that asks for this request again, which runs only what is owed."""
    words = ["mldevbench", "run", "--name", name, "--storage", storage]
    if any(spec.label != _usual_label(spec) for spec in request.agents):
        return shlex.join([*words[:2], "STUDY.yaml", *words[2:]])  # only its study file knows these labels
    words += ["--profile", request.profile, "--seeds", _seeds(request.seeds)]
    if request.instances > 1:
        words += ["--instances", str(request.instances)]
    for spec in request.agents:
        words += ["--agent", f"{spec.agent}={spec.model}" if spec.model else spec.agent, *_params(spec)]
    for task in request.tasks:
        words += ["--task", task.id]
    for budget in request.budgets:
        words += ["--budget", _budget(budget)] if budget != Budget() else []
    return shlex.join(words)


def _usual_label(spec: AgentSpec) -> str:
    return f"{spec.agent}-{spec.model.rsplit('/', 1)[-1]}" if spec.model else spec.agent


def _seeds(seeds: tuple[int, ...]) -> str:
    if seeds == tuple(range(len(seeds))):
        return str(len(seeds))
    return ",".join(map(str, seeds * 2 if len(seeds) == 1 else seeds))  # one number alone would be a count


def _params(spec: AgentSpec) -> list[str]:
    pairs = json.loads(spec.params).items()
    return [word for key, value in pairs for word in ("--param", f"{spec.agent}.{key}={json.dumps(value)}")]


def _budget(budget: Budget) -> str:
    units = {
        "steps": budget.steps, "minutes": budget.minutes, "wall_minutes": budget.wall_minutes,
        "tokens": budget.tokens, "usd": budget.usd,
    }  # fmt: skip
    return ",".join(f"{name}={value:g}" for name, value in units.items() if value is not None)
