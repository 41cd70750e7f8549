"""Knows the answer after a number of steps that task and seed decide; in a hurry it looks at its budget first."""

import hashlib


class Agent:
    def __init__(self, params):
        self.hurry = params["hurry"]

    def run(self, instruction, context):
        drawn = hashlib.sha256(f"{instruction}/{context.seed}".encode()).digest()[0]
        needed = 2 ** (drawn % 5)
        if self.hurry and context.budget.steps <= 4:
            needed = 1
        for step in range(1, 64):
            context.model.complete([{"role": "user", "content": f"step {step}"}])
            if step == needed:
                context.sandbox.run(["bash", "-c", "echo yes > answer.txt"], seconds=60)
