# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Count what the checkpoint holds, and let the submitted code score points drawn now; say which GPUs the room sees."""

from pathlib import Path

from mldevbench import plugin
from mldevbench.checks import Room, beats, metric, predict, within_capacity

HERE = Path(__file__).parent
LOOK = """
import os
def probe(inputs):
    return {"devices": len([one for one in os.environ["CUDA_VISIBLE_DEVICES"].split(",") if one])}
"""


def validate(submission, draw, profile):
    yield from within_capacity(submission, "weights.safetensors", 6)
    points, kinds = plugin.load(HERE / "data.py").labelled(draw, "held-out", profile["points"])
    with Room(submission) as room:
        yield metric("devices", room.call(LOOK, {})["devices"])
        scores = predict(room, HERE / "hidden/probe.py", points, draw=draw, seconds=60, parts=1, again=0)
    found = float(((scores > 0) == kinds).mean())
    yield metric("accuracy", found)
    yield beats("accuracy on unseen points", found, profile["min_accuracy"])
