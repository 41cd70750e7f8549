"""Reads its chance of success in the instruction and draws by its seed."""

import hashlib
import re


class Agent:
    def __init__(self, params):
        pass

    def run(self, instruction, context):
        found = re.search(r"chance (\d\.\d+)", instruction)
        drawn = int.from_bytes(hashlib.sha256(f"{instruction}/{context.seed}".encode()).digest()[:4], "big") / 2**32
        word = "yes" if found and drawn < float(found[1]) else "no"
        context.sandbox.run(["bash", "-c", f"echo {word} > answer.txt"], seconds=60)
