"""Answers right and says which GPUs it sees."""

from mldevbench.records import Step

LOOK = 'echo yes > answer.txt; echo "sees=$CUDA_VISIBLE_DEVICES"; sleep 1'


class Agent:
    def __init__(self, params):
        pass

    def run(self, instruction, context):
        done = context.sandbox.run(["bash", "-c", LOOK], seconds=60)
        context.record(Step("tool", done.output.decode().strip(), tool="shell"))
