"""Breaks something on purpose: each way must be the agent's own failure, and never be tried again."""

ACTS = {
    "memory": "python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 24))'",
    "disk": "head -c 4G /dev/zero > big; sleep 5",
    "processes": "python3 -c 'import os, time\nwhile True:\n  try: os.fork()\n  except OSError: time.sleep(0.01)'",
    "output": "yes",
    "sandbox": "kill -9 -1; kill -9 1; sleep 1",
    "poison": "echo not-a-number > answer.txt",
    "nothing": "true",
}


class Agent:
    def __init__(self, params):
        self.how = params["how"]

    def run(self, instruction, context):
        context.sandbox.run(["bash", "-c", ACTS[self.how]], seconds=120)
        if self.how == "sandbox":
            context.sandbox.run(["true"], seconds=10)
