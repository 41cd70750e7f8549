"""How good a piece of work looks to whoever made it: the tests that the task itself gave away, run once more."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from mldevbench import workspace
from mldevbench.draw import Draw
from mldevbench.sandbox import Limits, SandboxSpec
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import Finished, thread_count
from mldevbench.submission import erase, open_submission
from mldevbench.task import Task

TESTS = ("test_*.py", "check_*.py")
TEST_SECONDS = 300.0
RAN = re.compile(rb"^Ran (\d+) tests?", re.MULTILINE)
FAULTS = re.compile(rb"(?:failures|errors)=(\d+)")


@dataclass(frozen=True)
class Look:
    """The share of visible tests that hold; None where the task shows none."""

    share: float | None

    @property
    def told(self) -> str:
        return "the task shows no tests" if self.share is None else f"visible tests: {self.share:.0%}"


@dataclass(frozen=True)
class Bench:
    """What is needed to look at one instance of a task."""

    task: Task
    draw: Draw
    profile: str
    isolation: str
    venv: Path | None
    scratch: Path

    def look(self, archive: Path, digest: str) -> Look:
        """Lay a submission over a fresh workspace and run the tests that were given; nothing hidden is at hand."""
        folder = self.scratch / secrets.token_hex(8)
        folder.mkdir(parents=True, mode=0o711)
        try:
            inside = folder / secrets.token_hex(8)
            workspace.build(self.task, self.draw, self.profile, inside)
            tests = sorted({path.name: path.read_bytes() for words in TESTS for path in inside.glob(words)}.items())
            if not tests:
                return Look(None)
            work = open_submission(archive, digest, folder / "submission").folder
            try:
                workspace.lay_over(work, inside)
                for name, content in tests:  # as they were given, whatever became of them
                    (inside / name).write_bytes(content)
            except (FileExistsError, IsADirectoryError, NotADirectoryError):  # the agent's doing, so no fault of ours
                return Look(0.0)
            return Look(self._share(inside, [name for name, _ in tests]))
        finally:
            erase(folder)

    def _share(self, inside: Path, tests: list[str]) -> float:
        asked = self.task.resources
        limits = Limits(memory_mb=int(asked.memory_gb * 1024), disk_mb=int(asked.disk_gb * 1024))
        spec = SandboxSpec(inside, venv=self.venv, environment=thread_count(asked.cpus), limits=limits)
        with open_sandbox(spec, self.isolation) as sandbox:
            shares = [share_of(sandbox.run(["python", name], seconds=TEST_SECONDS)) for name in tests]
        return sum(shares) / len(shares)


def share_of(done: Finished) -> float:
    """Return how much of a test file holds: what unittest counts, else all or nothing by the exit code."""
    if done.exit_code == 0:
        return 1.0
    ran = RAN.search(done.output)
    if done.timed_out or ran is None or not int(ran[1]):
        return 0.0
    return max(0.0, 1 - sum(int(count) for count in FAULTS.findall(done.output)) / int(ran[1]))
