"""Help is quick: nothing heavy is imported for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow
HEAVY = ("ray", "torch", "litellm", "wandb", "scipy", "matplotlib")
LOOK = """
import sys
sys.argv = ["mldevbench", *sys.argv[1:]]
from mldevbench.cli import main
try:
    main()
except SystemExit as end:
    code = end.code
heavy = [name for name in {heavy!r} if name in sys.modules]
print("HEAVY", heavy, "CODE", code)
"""


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["tasks", "--help"], ["status", "--help"]])
def test_help_imports_nothing_heavy(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK.format(heavy=HEAVY), *words], capture_output=True, text=True, check=False
    )
    assert done.stdout.rstrip().endswith("HEAVY [] CODE 0"), done.stdout + done.stderr
    assert "Usage" in done.stdout


def test_completion_imports_nothing_heavy() -> None:
    asked = {"_MLDEVBENCH_COMPLETE": "complete_bash", "COMP_WORDS": "mldevbench run --task nan_l", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", LOOK.format(heavy=HEAVY)], env={**os.environ, **asked}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.stdout.split("\n")[:2] == ["nan_losses", "HEAVY [] CODE 0"], done.stdout + done.stderr
