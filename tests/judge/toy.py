"""A small task of our own: `answer.txt` must hold twice the number in `given.txt`, `double.py` must double."""

from __future__ import annotations

from pathlib import Path

from mldevbench.task import Task, load_task

FILES = {
    "task.yaml": """
version: 1
title: Doubling
summary: Double a number.
skill: arithmetic
difficulty: easy
protected: [given.txt]
submission: [answer.txt, double.py, "more/**"]
submission_max_mb: 1
validation: {minutes: 2}
profiles:
  mini: {factor: 2}
""",
    "instruction.md": "Write $factor times the number in given.txt.\n",
    "workspace/double.py": "def double(x):\n    return x\n",
    "data.py": """
def prepare(destination, draw, profile):
    (destination / "given.txt").write_text(str(draw.integer("given", 10, 10_000)), encoding="utf-8")
""",
    "hidden/probe.py": """
import double
def probe(inputs):
    return {"outputs": double.double(inputs["inputs"])}
""",
    "validate.py": """
from pathlib import Path
from mldevbench.checks import Room, close, equal, metric, read_text

def validate(submission, draw, profile):
    given = draw.integer("given", 10, 10_000)
    yield equal("answer", read_text(submission, "answer.txt").strip(), str(given * profile["factor"]))
    if submission.has("more/break"):
        raise ZeroDivisionError("the validator stumbles over this file")
    inputs = draw.rng("held-out").normal(size=20)
    with Room(submission, ["double.py"]) as room:
        answer = room.call(Path(__file__).parent / "hidden/probe.py", {"inputs": inputs}, seconds=60)
    yield close("doubling", answer.get("outputs"), inputs * 2, tolerance=1e-9)
    yield metric("largest", float(inputs.max()))
""",
    "solution/double.py": "def double(x):\n    return x * 2\n",
    "solution/solve.sh": "echo $(( $(cat given.txt) * 2 )) > answer.txt\n",
    "solutions_alt/addition/double.py": "def double(x):\n    return x + x\n",
    "solutions_alt/addition/solve.sh": "n=$(cat given.txt); echo $((n + n)) > answer.txt\n",
    "cheats/edits_given/double.py": "def double(x):\n    return x * 2\n",
    "cheats/edits_given/solve.sh": "echo 5 > given.txt; echo 10 > answer.txt\n",
    "cheats/exits/double.py": "import os\nos._exit(0)\n",
    "cheats/exits/solve.sh": "echo $(( $(cat given.txt) * 2 )) > answer.txt\n",
    "mutants/triples/double.py": "def double(x):\n    return x * 3\n",
    "mutants/triples/solve.sh": "echo $(( $(cat given.txt) * 2 )) > answer.txt\n",
}


def make_task(root: Path, **changed: str) -> Task:
    """Write the task below a folder, with some of its files replaced (`validate_py="…"`)."""
    folder = root / "tasks" / "toys" / "doubling"
    replaced = {name.replace("_py", ".py").replace("_sh", ".sh"): text for name, text in changed.items()}
    for name, text in (FILES | replaced).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return load_task(folder)
