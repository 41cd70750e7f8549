"""Fits the checkpoint well and has its predictions take long; counts its calls in the trajectory."""

from mldevbench.records import Step

DAWDLE = 'python fit.py && echo \'import subprocess; subprocess.run(["sleep", "{}"])\' >> predict.py'


class Agent:
    def __init__(self, params):
        self.pause = params["pause"]

    def run(self, instruction, context):
        done = context.sandbox.run(["bash", "-c", DAWDLE.format(self.pause)], seconds=120)
        context.record(Step("tool", tool="shell", exit_code=done.exit_code))
