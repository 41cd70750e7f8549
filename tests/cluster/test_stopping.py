"""A signal ends a study in order: soon, with what was finished kept, and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support import Cli, offspring, processes

from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = pytest.mark.slow

DEADLINE = 120.0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_study_whose_agent_works(
    number: signal.Signals, cli: Cli, plugins: Path, tmp_path: Path
) -> None:
    words = ["run", "--name", "s", "--root", str(plugins), "--task", "quick", "--sandbox", "bubblewrap"]
    words += ["--agent", "worker", "--agent", "sleeper"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen([sys.executable, "-m", "mldevbench", *words], cwd=tmp_path, stdout=log, stderr=log)
    store = StudyStore(open_place(str(tmp_path / "results" / "s")))
    try:
        wait_for(lambda: bool(list(store.runs.all())) and "sleep 3600" in offspring(process.pid).values())
        before, family = list(store.runs.all()), set(offspring(process.pid))
        began = time.monotonic()
        os.kill(process.pid, number)
        code = process.wait(timeout=60)
        ended = time.monotonic() - began
        wait_for(lambda: not family & set(processes()))
        print(f"{number.name}: ended after {ended:.2f} s, nothing left after {time.monotonic() - began:.2f} s")
    finally:
        for pid in [*offspring(process.pid), process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
    said = (tmp_path / "log").read_text(encoding="utf-8")
    assert (code, "Traceback" in said, "what is finished stays" in said) == (130, False, True), said
    assert ended < 20, "two seconds on a machine of its own"
    (row,) = store.runs.all()
    assert [row] == before and (row.agent, row.outcome) == ("worker", Outcome.PASSED)
    assert "1 of 2 runs done" in cli("status", "s", "--root", str(plugins)).stdout


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)
