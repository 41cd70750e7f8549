"""Asks its model some questions, each with a word that no other execution has; right with even seeds."""

import secrets

from mldevbench.records import Step


class Agent:
    def __init__(self, params):
        self.calls = params["calls"]

    def run(self, instruction, context):
        word = secrets.token_hex(8)
        context.record(Step("note", f"word={word}"))
        for number in range(self.calls):
            question = {"role": "user", "content": f"seed={context.seed} word={word} number={number}"}
            context.model.complete([question])
        answer = "no" if context.seed % 2 else "yes"
        context.sandbox.run(["bash", "-c", f"echo {answer} > answer.txt; sleep 0.2"], seconds=60)
