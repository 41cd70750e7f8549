"""A new task from the template: the blanks filled in, it is proven, and no other file was touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from support import Cli


@pytest.mark.slow
def test_a_new_task_is_accepted_once_its_blanks_are_filled(cli: Cli, tmp_path: Path) -> None:
    root = tmp_path / "mine"
    (root / "tasks").mkdir(parents=True)
    made = cli("tasks", "new", "my_task", "--root", str(root))
    assert made.returncode == 0, made.stderr
    folder = root / "tasks" / "extra" / "my_task"
    refused = cli("tasks", "check", "my_task", "--root", str(root))
    assert refused.returncode == 2 and "task.yaml:2: still has a blank" in refused.stderr
    for path in (folder / "task.yaml", folder / "instruction.md"):
        path.write_text(path.read_text(encoding="utf-8").replace("FILL IN", "Compute"), encoding="utf-8")
    proven = cli("tasks", "check", "my_task", "--root", str(root))
    assert proven.returncode == 0, proven.stdout + proven.stderr
    assert "1 of 1 tasks proven" in proven.stdout
    assert [path.name for path in root.rglob("*") if path.is_dir() and path.parent == root] == ["tasks"]
    again = cli("tasks", "new", "my_task", "--root", str(root))
    assert again.returncode == 2 and "is there already" in again.stderr


@pytest.mark.slow
def test_a_folder_can_be_graded_by_hand(cli: Cli, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    shown = cli("tasks", "show", "hello_world")
    assert shown.returncode == 0, shown.stderr
    greeting = next(line.strip() for line in shown.stdout.splitlines() if line.startswith("    "))
    (work / "hello.py").write_text(f"print({greeting!r})\n", encoding="utf-8")
    (work / "greeting.txt").write_text(greeting + "\n", encoding="utf-8")
    assert cli("tasks", "grade", "hello_world", str(work)).returncode == 0
    (work / "hello.py").write_text("print('something else')\n", encoding="utf-8")
    failed = cli("tasks", "grade", "hello_world", str(work))
    assert failed.returncode == 1 and "greeting" in failed.stdout


@pytest.mark.slow
def test_an_instance_that_is_another_each_time_is_refused(cli: Cli, plugins: Path) -> None:
    folder = plugins / "tasks" / "trial" / "quick"
    words = ("tasks", "check", "quick", "--root", str(plugins), "--sandbox", "process")
    data = "def prepare(destination, draw, profile):\n    (destination / 'n.txt').write_text({})\n"
    folder.joinpath("data.py").write_text(data.format("draw.hex('n')"), encoding="utf-8")
    drawn = cli(*words)
    assert "is another" not in drawn.stderr and "variants as they must be" in drawn.stdout, drawn.stderr
    folder.joinpath("data.py").write_text("import time\n" + data.format("str(time.time())"), encoding="utf-8")
    refused = cli(*words)
    assert refused.returncode == 2 and "data.py: the same instance is another" in refused.stderr, refused.stderr
