"""The two-turn run as a task of Inspect AI, for `benchmarks/peers.py`; runs in a venv that has that package only.

Prints the seconds between finished samples, without the first two rounds, as peers.py reckons ours.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import datetime

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, accuracy, scorer
from inspect_ai.solver import TaskState, generate, use_tools
from inspect_ai.tool import bash
from inspect_ai.util import sandbox


@scorer(metrics=[accuracy()])
def wrote_it():
    async def score(state: TaskState, target: Target) -> Score:
        text = await sandbox().read_file("answer.txt")
        return Score(value="C" if text.strip() == target.text else "I")

    return score


def answer(input, tools, tool_choice, config):  # what a mock model is asked with
    if any(message.role == "tool" for message in input):
        output = ModelOutput.from_content("mockllm/model", "done")
    else:
        output = ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "echo yes > answer.txt"})
    output.usage = ModelUsage(
        input_tokens=50, output_tokens=10, total_tokens=60
    )  # else it counts, with a file from afar
    return output


def main() -> None:
    samples, at_once = int(sys.argv[1]), int(sys.argv[2])
    work = Task(
        dataset=[Sample(id=number, input="Write yes into answer.txt.", target="yes") for number in range(samples)],
        solver=[use_tools(bash(timeout=30)), generate()],
        scorer=wrote_it(),
        sandbox="local",
    )
    (log,) = eval(
        work, model=get_model("mockllm/model", custom_outputs=answer), max_samples=at_once, max_sandboxes=at_once,
        max_subprocesses=at_once, log_dir=tempfile.mkdtemp(), display="none",
    )  # fmt: skip
    assert log.status == "success" and log.results.scores[0].metrics["accuracy"].value == 1.0, log.status
    ends = sorted(datetime.fromisoformat(sample.completed_at).timestamp() for sample in log.samples)[2 * at_once :]
    print((ends[-1] - ends[0]) / (len(ends) - 1))


if __name__ == "__main__":
    main()
