"""Waits until all others are there too, then asks its model some questions, one after the other."""

import socket


class Agent:
    def __init__(self, params):
        self.barrier, self.calls = params["barrier"], params["calls"]

    def run(self, instruction, context):
        context.model.complete([{"role": "user", "content": "are you there?"}])  # what is slow at first is over then
        with socket.create_connection(("127.0.0.1", self.barrier)) as door:
            door.recv(1)
        for number in range(self.calls):
            context.model.complete([{"role": "user", "content": f"question {number}"}])
        context.sandbox.run(["bash", "-c", "echo yes > answer.txt"], seconds=60)
