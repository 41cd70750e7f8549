# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Judge the answer; while hidden/hold is there, wait, and for the seconds in hidden/pause."""

import time
from pathlib import Path

from mldevbench.checks import equal, read_text


def validate(submission, draw, profile):
    hidden = Path(__file__).parent / "hidden"
    while (hidden / "hold").exists():
        time.sleep(0.1)
    if (hidden / "pause").exists():
        time.sleep(float((hidden / "pause").read_text(encoding="utf-8")))
    yield equal("answer", read_text(submission, "answer.txt").strip(), "yes")
