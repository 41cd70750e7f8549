"""A shell with a warm `python` does what any shell does, only sooner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mldevbench.sandbox.cage import Cage
from mldevbench.sandbox.opening import opaque_folder, open_sandbox
from mldevbench.sandbox.protocol import Finished, SandboxSpec
from mldevbench.sandbox.warm_shell import WarmCage, warm_shells
from mldevbench.sandbox.zygote import Zygote

pytestmark = pytest.mark.slow

Shell = Callable[[str], Finished]
FILES = {
    "main.py": "import sys, helper\nprint(__name__, sys.argv, helper.NAME)\n",
    "helper.py": "import sys\nNAME = 'ours'\nif __name__ == '__main__': print('helper', sys.argv[1:])\n",
    "ends.py": "import sys; sys.exit(int(sys.argv[1]))\n",
    "breaks.py": "print('before'); raise KeyError('so')\n",
    "parts/inner.py": "from beside import word; print(word)\n",
    "parts/beside.py": "word = 'beside'\n",
}
SCRIPTS = {
    "a file": "python main.py a 'b c'",
    "a file elsewhere": "python parts/inner.py",
    "text": "python - x <<'END'\nimport helper, sys\nprint(sys.argv, helper.NAME, sys.stdin.read() == '')\nEND",
    "no words": "echo 'print(__name__)' | python",
    "a line": "python -c 'import sys, helper; print(sys.argv, helper.NAME)' x y",
    "a module": "python -m helper x",
    "input": "echo hello | python -c 'print(input())'",
    "its other name": "python3 main.py",
    "an option": "python -I -c 'import sys; print(sys.flags.isolated, sys.argv)' x",
    "a variable of Python's": "PYTHONPATH=parts python -c 'import beside; print(beside.word)'",
    "a variable": "NAME=value python -c 'import os; print(os.environ[\"NAME\"])'",
    "another folder": "cd parts && python inner.py",
    "exit codes": "python ends.py 3; echo $?; python ends.py 0; echo $?; python breaks.py 2> /dev/null; echo $?",
    "a signal": "python -c 'import os; os.kill(os.getpid(), 15)' 2> /dev/null; echo $?",
    "errors apart": "python breaks.py 2> errors; tail -1 errors",
    "the shell's own end": "set -e; echo begun; python ends.py 5; echo never",
    "in order": "echo 1; python -c 'print(2)'; echo 3",
    "by a program": 'python -c \'import subprocess; print(subprocess.run(["python", "main.py"]).returncode)\'',
    "two at once": "python main.py > a & python helper.py x > b; wait; cat a b",
    "not for ever": "timeout 1 python -c 'import time; time.sleep(60)'; echo $?",
    "its name": "echo $0",
}


@pytest.fixture
def shells(zygote: Zygote, scratch: Path, task_venv: Path) -> Iterator[tuple[Shell, Shell]]:
    """Return an ordinary shell and a warm one, in sandboxes with the same files."""
    opened: list[Cage] = []
    for lent in (None, zygote):
        place = opaque_folder(scratch)
        for name, text in FILES.items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        with warm_shells(lent):
            opened.append(open_sandbox(SandboxSpec(place, venv=task_venv), "bubblewrap"))
    assert [type(cage) for cage in opened] == [Cage, WarmCage]
    ordinary, warm = (lambda script, cage=cage: cage.run(["bash", "-c", script, "me"], seconds=60) for cage in opened)
    yield ordinary, warm
    for cage in opened:
        cage.close()


def test_every_way_to_call_python_does_the_same(shells: tuple[Shell, Shell]) -> None:
    ordinary, warm = shells
    for name, script in SCRIPTS.items():
        expected, seen = ordinary(script), warm(script)
        assert expected.output, name
        assert (seen.exit_code, seen.output) == (expected.exit_code, expected.output), name


def test_torch_is_there_already_and_each_call_draws_other_numbers(shells: tuple[Shell, Shell]) -> None:
    ordinary, warm = shells
    look = "python -c 'import sys; print(\"torch\" in sys.modules)'"
    assert [shell(look).output for shell in (ordinary, warm)] == [b"False\n", b"True\n"]
    drawing = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1).item())"
    drawn = warm(f"for i in 1 2 3; do python -c '{drawing}'; done").output.split()
    assert len(drawn) == len(set(drawn)) == 9


def test_a_warm_script_that_takes_too_long_is_ended(zygote: Zygote, scratch: Path, task_venv: Path) -> None:
    with warm_shells(zygote):
        cage = open_sandbox(SandboxSpec(opaque_folder(scratch), venv=task_venv), "bubblewrap")
    with cage:
        done = cage.run(["bash", "-c", "python -c 'import time; print(1, flush=True); time.sleep(60)'"], seconds=2)
    assert done.timed_out and done.output.startswith(b"1\n")
