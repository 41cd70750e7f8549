from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from mldevbench.model.secrets import Scrubber
from mldevbench.records import Step, Usage
from mldevbench.store.place import open_place
from mldevbench.trajectory import Trajectory, read_steps, rows_of_steps, stored_steps

KEY = "sk-planted-0123456789"


def called(number: int, usd: float | None) -> Step:
    usage = Usage(steps=1, prompt_tokens=10, completion_tokens=2, cost_usd=usd)
    return Step("model", f"turn {number}", number=number, usage=usage, reasoning="why")


def test_steps_come_back_as_they_were(tmp_path: Path) -> None:
    place = open_place(str(tmp_path / "store")).child("attempt")
    steps = [called(1, 0.1), Step("tool", "out\n", tool="shell", arguments="{}", exit_code=3, number=1)]
    with Trajectory(tmp_path / "t.jsonl", place) as trajectory:
        for step in steps:
            trajectory.record(step)
        trajectory.ship()
        trajectory.record(called(2, 0.2))
    read = stored_steps(place)
    assert [step.text for step in read] == ["turn 1", "out\n", "turn 2"]
    assert read[0].usage == steps[0].usage and read[1].exit_code == 3 and read[0].reasoning == "why"
    assert place.names() == ["trajectory-00000.jsonl", "trajectory-00001.jsonl"]
    assert (tmp_path / "t.jsonl").read_bytes() == b"".join(place.read(name) for name in place.names())


def test_segments_are_shipped_by_themselves(tmp_path: Path) -> None:
    place = open_place(str(tmp_path / "store")).child("attempt")
    with Trajectory(tmp_path / "t.jsonl", place, every=0.02) as trajectory:
        trajectory.record(called(1, 0.1))
        deadline = time.monotonic() + 30
        while not place.names() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert place.names() == ["trajectory-00000.jsonl"]


def test_a_planted_key_reaches_no_file(tmp_path: Path) -> None:
    place = open_place(str(tmp_path / "store")).child("attempt")
    with Trajectory(tmp_path / "t.jsonl", place, scrub=Scrubber([KEY])) as trajectory:
        trajectory.record(Step("tool", f"it is {KEY}!", tool="shell", arguments=f'{{"command": "echo {KEY}"}}'))
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
    assert stored_steps(place)[0].text == "it is [secret]!"


def test_rows_say_what_was_used_by_then() -> None:
    steps = [called(1, 0.1), Step("tool", "x", tool="shell", arguments="a" * 9000, number=1), called(2, 0.2)]
    rows = rows_of_steps("s", "r", 1, steps)
    assert [row.used_steps for row in rows] == [1, 1, 2]
    assert [row.used_tokens for row in rows] == [12, 12, 24]
    assert rows[2].used_usd is not None and abs(rows[2].used_usd - 0.3) < 1e-12
    assert len(rows[1].arguments or "") == 4096 and rows[1].prompt_tokens == 0
    assert [row.position for row in rows] == [0, 1, 2]
    unknown = rows_of_steps("s", "r", 1, [called(1, None), called(2, 0.2)])
    assert [row.used_usd for row in unknown] == [None, None]


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from mldevbench.records import Step\n"
        "from mldevbench.trajectory import Trajectory\n"
        "with Trajectory(Path(sys.argv[1])) as trajectory:\n"
        "    for number in range(100):\n"
        "        trajectory.record(Step('note', str(number)))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    path = tmp_path / "t.jsonl"
    ended = subprocess.run([sys.executable, "-c", code, str(path)], cwd=Path(__file__).parents[2], check=False)
    assert ended.returncode == -signal.SIGKILL
    text = path.read_text(encoding="utf-8")
    assert [step.text for step in read_steps(text)] == [str(number) for number in range(100)]
    assert len(read_steps(text[:-20])) == 99
    assert path.stat().st_mode & 0o077 == 0


def test_half_a_character_in_an_agents_output_breaks_nothing(tmp_path: Path) -> None:
    place = open_place(str(tmp_path / "kept"))
    with Trajectory(tmp_path / "trajectory.jsonl", place) as trajectory:
        trajectory.record(Step("tool", text="half \udc80 a character", number=1))
    (step,) = stored_steps(place)
    assert step.text == "half \udc80 a character"
