"""Writes its answer, then its own program breaks."""


class Agent:
    def __init__(self, params):
        pass

    def run(self, instruction, context):
        context.sandbox.run(["bash", "-c", "echo yes > answer.txt"], seconds=60)
        raise ZeroDivisionError("the agent's own fault")
