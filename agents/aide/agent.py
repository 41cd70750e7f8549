"""AIDE: its tree search runs wholly inside; then the best script that it found makes the task's outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mldevbench.agent import Context
from mldevbench.model.budget import AgentStopped
from mldevbench.records import Step

FOLDER = "$HOME/aide"
# The names that AIDE's prompts promise to a script, as long as the task has none of its own.
PRODUCE = f"""
[ -s {FOLDER}/best.py ] || exit 90
[ -e input ] || {{ ln -s . input; linked=1; }}
[ -e working ] || {{ mkdir working; made=1; }}
cp {FOLDER}/best.py runfile.py
python runfile.py
code=$?
rm -f runfile.py
[ -z "$linked" ] || rm -f input
[ -z "$made" ] || rm -rf working
exit $code
"""
NO_SOLUTION = 90
SHORTEST_RUN = 30.0


class Aide:
    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = dict(params)

    def run(self, instruction: str, context: Context) -> None:
        """Search, and whatever ended the search, let its best script work while there is time."""
        assert context.programs is not None, "agent.yaml says that it needs the gateway"
        stopped: AgentStopped | RuntimeError | None = None
        try:
            context.programs.drive("inside.py", self._settings(instruction, context))
        except (AgentStopped, RuntimeError) as error:
            stopped = error
        self._produce(context)
        if stopped is not None:
            raise stopped

    def _settings(self, instruction: str, context: Context) -> dict[str, Any]:
        minutes = context.budget.minutes
        seconds = minutes * 60 if minutes is not None else context.budget.wall_seconds
        longest = max(min(self._params["run_seconds"], seconds / 4), min(SHORTEST_RUN, seconds / 2))
        return {
            **self._params,
            "instruction": instruction,
            "seed": context.seed,
            "run_seconds": longest,
            "search_seconds": seconds - longest,  # what is left is for the best script's own run
        }

    def _produce(self, context: Context) -> None:
        seconds = context.budget.wall_seconds
        done = context.sandbox.run(["bash", "-c", PRODUCE], seconds=seconds)
        if done.exit_code == NO_SOLUTION:
            context.record(Step(role="note", text="AIDE found no solution that could be run."))
            return
        text = done.output.decode(errors="replace")
        code, took = done.exit_code, done.seconds
        number = context.model.usage.steps if context.model else 0
        context.record(Step(role="tool", text=text, tool="best_solution", exit_code=code, seconds=took, number=number))
