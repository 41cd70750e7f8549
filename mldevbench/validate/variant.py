"""The known answers to a task: reference solutions, doing nothing, cheats and mutants, made into submissions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mldevbench import workspace
from mldevbench.draw import Draw
from mldevbench.errors import UserError
from mldevbench.mirror.door import Mirror, open_mirror
from mldevbench.room.call import last_lines
from mldevbench.room.settings import RoomSettings
from mldevbench.sandbox.gpu import DRIVER, seen_gpus
from mldevbench.sandbox.opening import opaque_folder, open_sandbox
from mldevbench.sandbox.protocol import Finished, Limits, SandboxSpec, thread_count
from mldevbench.submission import Manifest, collect, erase
from mldevbench.task import Task
from mldevbench.validate.change import lay_variant

SOLVE = "solve.sh"
FOLDERS = {"alternative": "solutions_alt", "cheat": "cheats", "mutant": "mutants"}


@dataclass(frozen=True)
class Variant:
    """One known answer; solutions and alternatives must pass, all others must fail."""

    kind: str  # solution, alternative, noop, cheat, mutant
    name: str
    folder: Path | None  # None: nothing is laid over the workspace
    patience: int = 1  # how many times as long a weak recipe trains as in a short proof; solve.sh reads PATIENCE

    @property
    def must_pass(self) -> bool:
        return self.kind in ("solution", "alternative")


@dataclass(frozen=True)
class Made:
    """A submission that a variant left, and how its solve.sh ended, if it has one."""

    archive: Path
    manifest: Manifest
    solved: Finished | None

    @property
    def trouble(self) -> str:
        """Say what went wrong while it was made."""
        if self.solved is None or self.solved.exit_code == 0:
            return ""
        how = "ran out of time" if self.solved.timed_out else f"ended with exit code {self.solved.exit_code}"
        return f"{SOLVE} {how}{last_lines(self.solved)}"


def variants(task: Task) -> list[Variant]:
    """Return all known answers of a task."""
    return list(known(task))


def known(task: Task) -> Iterator[Variant]:
    if task.part("solution").is_dir():
        yield reference(task)
    yield Variant("noop", "noop", None)
    for kind, parent in FOLDERS.items():
        for folder in sorted(task.part(parent).glob("*/")):
            if folder.name != "__pycache__":
                yield Variant(kind, folder.name, folder)


def reference(task: Task) -> Variant:
    folder = task.part("solution")
    if not folder.is_dir():
        raise UserError(f"task {task.id} has no solution/; without one it can't be proven")
    return Variant("solution", "solution", folder)


def make(task: Task, variant: Variant, draw: Draw, profile: str, settings: RoomSettings, archive: Path) -> Made:
    """Let a variant do its work in a fresh workspace and collect what it leaves."""
    place, served = opaque_folder(settings.scratch), opaque_folder(settings.scratch)
    try:
        workspace.build(task, draw, profile, place)
        solved = None
        if variant.folder is not None:
            lay_variant(variant.folder, place)
            script = taken_out(place / SOLVE)
            with open_mirror(task, draw, profile, served, settings.isolation) as mirror:
                solved = solve(task, script, place, settings, mirror, variant.patience) if script else None
        manifest = collect(place, task.submission, task.submission_max_mb, archive, witness=task.protected)
        return Made(archive, manifest, solved)
    finally:
        erase(place)
        erase(served)


def taken_out(script: Path) -> str | None:
    """Return the text of a variant's script, which is no part of the workspace; None where there is none."""
    text = script.read_text(encoding="utf-8") if script.is_file() else None
    script.unlink(missing_ok=True)
    return text


def solve(
    task: Task, script: str, place: Path, settings: RoomSettings, mirror: Mirror | None = None, patience: int = 1
) -> Finished:
    """Run a variant's script in a sandbox like an agent's."""
    resources = task.resources
    limits = Limits(memory_mb=int(resources.memory_gb * 1024), disk_mb=int(resources.disk_gb * 1024))
    minors, said = seen_gpus(settings.gpus, DRIVER.exists())
    variables = thread_count(resources.cpus) | said | {"PATIENCE": str(patience)}
    variables |= mirror.environment if mirror else {}
    doors = mirror.doors if mirror else ()
    spec = SandboxSpec(place, venv=settings.venv, environment=variables, limits=limits, gpus=minors, doors=doors)
    sandbox = open_sandbox(spec, settings.isolation)
    try:
        if mirror:
            mirror.serve(sandbox.listeners)
        seconds = max(600.0, task.expected_minutes * 300) * patience
        return sandbox.run(["bash", "-c", script, SOLVE], seconds=seconds)
    finally:
        sandbox.close()
