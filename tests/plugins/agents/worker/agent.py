"""Answers right; with odd seeds wrong; counts its calls in the trajectory."""

from mldevbench.records import Step


class Agent:
    def __init__(self, params):
        pass

    def run(self, instruction, context):
        word = "no" if context.seed % 2 else "yes"
        done = context.sandbox.run(["bash", "-c", f"echo {word} > answer.txt; sleep 0.3"], seconds=60)
        context.record(Step("tool", tool="shell", exit_code=done.exit_code))
