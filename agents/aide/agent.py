"""AIDE: its tree search runs wholly inside; then the best script that it found makes the task's outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mldevbench.agent import Context
from mldevbench.model.budget import AgentStopped
from mldevbench.records import Budget, Step

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
CALLS_PER_NODE = 2  # one that writes a script, one that reviews it
NODES = 20  # AIDE's own default, for a budget that doesn't bound the calls


class Aide:
    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = dict(params)

    def run(self, instruction: str, context: Context) -> None:
        """Search, and whatever ended the search, let its best script work while there is time."""
        stopped: AgentStopped | RuntimeError | None = None
        try:
            self._search(instruction, context)
        except (AgentStopped, RuntimeError) as error:
            stopped = error
        self._produce(context)
        if stopped is not None:
            raise stopped

    def _search(self, instruction: str, context: Context) -> None:
        assert context.programs is not None, "agent.yaml says that it needs the gateway"
        budget = context.budget
        longest = longest_run(budget, self._params["run_seconds"])
        steps = self._params["steps"] or max(1, budget.steps // CALLS_PER_NODE if budget.steps else NODES)
        own = {"instruction": instruction, "seed": context.seed, "run_seconds": longest, "steps": steps}
        context.programs.drive("inside.py", {**self._params, **own}, spare_seconds=longest)

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


def longest_run(budget: Budget, asked: float) -> float:
    """Return what one script may take: at most a quarter of the time, but where that is little, up to a half."""
    seconds = budget.minutes * 60 if budget.minutes is not None else budget.wall_seconds
    return max(min(asked, seconds / 4), min(SHORTEST_RUN, seconds / 2))
