"""Leaves a child in the background that would write for ever, and sleeps."""


class Agent:
    def __init__(self, params):
        pass

    def run(self, instruction, context):
        context.sandbox.run(
            ["bash", "-c", "echo yes > answer.txt; setsid nohup sleep 3600 >/dev/null 2>&1 &"], seconds=60
        )
        context.sandbox.run(["sleep", "3600"], seconds=3600)
