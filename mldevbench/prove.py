"""Proof of a task: its solutions pass, doing nothing fails, and so does every cheat and mutant. No Ray."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from mldevbench.draw import Draw
from mldevbench.errors import Fault
from mldevbench.records import Verdict
from mldevbench.room.call import warm_process
from mldevbench.room.room import mentions_torch
from mldevbench.room.settings import RoomSettings
from mldevbench.sandbox.opening import opaque_folder
from mldevbench.sandbox.warm_shell import warm_shells
from mldevbench.submission import erase
from mldevbench.task import Task
from mldevbench.validate.run import ValidatorBroke, validate_submission
from mldevbench.validate.variant import SOLVE, Variant, make, variants
from mldevbench.workspace import Built, at_hand, build_twice

__all__ = ["Instances", "Proof", "Variant", "prove", "variants"]


@dataclass(frozen=True)
class Proof:
    """What became of one variant, and whether that is right."""

    variant: Variant
    verdict: Verdict | None  # None: its validation broke, which is never right
    seconds: float
    judging_seconds: float  # the part of it that validation took
    ok: bool
    detail: str


def prove(
    task: Task,
    variant: Variant,
    *,
    instance: int,
    salt: bytes,
    profile: str,
    isolation: str,
    venv: Path,
    scratch: Path,
    keep: Path | None = None,
    built: Built | None = None,
) -> Proof:
    """Let a variant work on an instance, validate what it left, and compare with what must come out.

    `keep` is a folder for the submission's archive, for those who want to look into it afterwards; `built` is the
    instance, where it is there already.
    """
    draw = Draw.of(salt, task.id, instance)
    settings = RoomSettings(isolation, venv, scratch)
    scratch.mkdir(parents=True, exist_ok=True)
    started = perf_counter()
    with tempfile.TemporaryDirectory(dir=scratch) as folder, at_hand(built):
        archive = Path(folder) / "submission.tar"
        with warm_process(settings, torch=True) if trains(task) else nullcontext() as zygote, warm_shells(zygote):
            made = make(task, variant, draw, profile, settings, archive)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(archive, keep / f"{task.id}-{variant.kind}-{variant.name}-{instance}.tar")
        began = perf_counter()
        try:
            verdict = validate_submission(task, archive, made.manifest.digest, draw, profile, settings)
        except (ValidatorBroke, Fault) as broke:
            detail = "; ".join(filter(None, [f"validation broke: {broke}", made.trouble]))
            return Proof(variant, None, perf_counter() - started, perf_counter() - began, False, detail)
        judging = perf_counter() - began
    ok = verdict.passed == variant.must_pass
    return Proof(variant, verdict, perf_counter() - started, judging, ok, detail_of(verdict, made.trouble))


class Instances:
    """The instances of a proof, each built when its first variant wants it and gone after its last."""

    def __init__(self, salt: bytes, profile: str, scratch: Path, wanted: Iterable[tuple[str, int]]) -> None:
        self.salt, self.profile, self.scratch = salt, profile, scratch
        self._lock = threading.Lock()
        self._wanted = Counter(wanted)
        self._built: dict[tuple[str, int], Built] = {}

    @contextmanager
    def lent(self, task: Task, instance: int) -> Iterator[Built]:
        key = (task.id, instance)
        with self._lock:
            if key not in self._built:
                draw, place = Draw.of(self.salt, task.id, instance), opaque_folder(self.scratch)
                self._built[key] = build_twice(task, draw, self.profile, place)
        yield self._built[key]
        with self._lock:
            self._wanted[key] -= 1
            if not self._wanted[key]:
                erase(self._built.pop(key).folder)


def trains(task: Task) -> bool:
    """Guess whether answers to a task import torch themselves, which is most of what short ones take.

    A wrong guess costs time, nothing else; a warm process has one thread, so tasks with more CPUs go without.
    """
    solution = task.part("solution")
    script = solution / SOLVE
    return task.resources.cpus < 2 and script.is_file() and any(map(mentions_torch, [script, *solution.rglob("*.py")]))


def detail_of(verdict: Verdict, trouble: str) -> str:
    """Say in one line why a verdict is what it is."""
    failed = [
        f"{check.name}: expected {check.expected}; seen {check.seen}" for check in verdict.checks if not check.passed
    ]
    return "; ".join(filter(None, [*failed[:3], trouble])) or f"{len(verdict.checks)} checks hold"
