# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the script alone and compare what it prints with the instance's greeting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mldevbench.checks import Room, check, equal, require
from mldevbench.draw import Draw
from mldevbench.material.words import greeting
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require("hello.py", submission.has("hello.py"), "a file hello.py", "none")
    with Room(submission, files=["hello.py"]) as room:
        ran = room.run(["python", "hello.py"], seconds=profile["seconds"])
    ended = "stopped by the time-out" if ran.timed_out else f"exit code {ran.exit_code}"
    yield check("it ends", ran.exit_code == 0, "exit code 0", ended)
    said = ran.output.decode("utf-8", errors="replace").strip()
    yield equal("greeting", said[:400], greeting(draw.rng("greeting")), show_expected=False)
