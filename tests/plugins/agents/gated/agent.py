"""Answers right, but with seeds from 1 on only once a file is there."""

import time
from pathlib import Path


class Agent:
    def __init__(self, params):
        self.gate = Path(params["gate"])

    def run(self, instruction, context):
        if context.seed:
            self.gate.with_suffix(f".{context.seed}").touch()  # it stands before the gate
        while context.seed and not self.gate.exists():
            time.sleep(0.1)
        context.sandbox.run(["bash", "-c", "echo yes > answer.txt"], seconds=60)
