"""Proofs on the terminal: many variants at once, a matrix at the end."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from mldevbench import task_venv, workspace
from mldevbench.assets import ensure
from mldevbench.cache import cache_folder
from mldevbench.cli.output import note, print_json, print_table
from mldevbench.draw import Draw
from mldevbench.errors import UserError, unknown
from mldevbench.mirror import URL
from mldevbench.mirror.door import Mirror, open_mirror
from mldevbench.prove import Instances, Proof, Variant, prove, variants
from mldevbench.records import Verdict
from mldevbench.sandbox.opening import choose, open_sandbox
from mldevbench.sandbox.protocol import SandboxSpec
from mldevbench.submission import collect, erase
from mldevbench.task import Task
from mldevbench.validate import RoomSettings, validate_submission


@dataclass(frozen=True)
class Proving:
    profile: str = "mini"
    sandbox: str = "auto"
    only: tuple[str, ...] = ()
    instances: int = 1
    repeat: int = 1
    jobs: int | None = None
    keep: Path | None = None
    patience: int = 1


@dataclass(frozen=True)
class Line:
    task: str
    instance: int
    proof: Proof


def prove_all(tasks: Sequence[Task], proving: Proving, as_json: bool) -> bool:
    """Prove tasks and show the matrix."""
    for task in tasks:
        refuse_blanks(task)
    isolation = choose(proving.sandbox, trusted=True)
    lines = prove_lines(tasks, proving, isolation)
    _print(lines, as_json, isolation)
    return all(line.proof.ok for line in lines)


def prove_lines(tasks: Sequence[Task], proving: Proving, isolation: str) -> list[Line]:
    """Prove every variant of every task; slow tasks first, so that the cores end together."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when a validator imports torch: more are in each other's way
    venv = task_venv.path()
    for task in tasks:
        ensure(task, proving.profile)
    salt = secrets.token_bytes(32)
    work = [
        (task, variant, instance)
        for task in sorted(tasks, key=lambda task: -task.expected_minutes)
        for variant in (replace(one, patience=proving.patience) for one in _chosen(task, proving.only))
        for instance in range(proving.instances)
        for _ in range(proving.repeat)
    ]
    scratch = Path(tempfile.mkdtemp(dir=_scratch()))
    instances = Instances(salt, proving.profile, scratch, ((task.id, instance) for task, _, instance in work))

    def one(item: tuple[Task, Variant, int]) -> Line:
        task, variant, instance = item
        with instances.lent(task, instance) as built:
            proof = prove(
                task,
                variant,
                instance=instance,
                salt=salt,
                profile=proving.profile,
                isolation=isolation,
                venv=venv,
                scratch=scratch,  # nothing in its path may tell the task or the variant
                keep=proving.keep / task.id if proving.keep else None,
                built=built,
            )
        note(f"{'ok  ' if proof.ok else 'FAIL'} {task.id} {variant.kind} {variant.name} ({proof.seconds:.1f} s)")
        return Line(task.id, instance, proof)

    try:
        with ThreadPoolExecutor(proving.jobs or os.cpu_count() or 1) as pool:
            return list(pool.map(one, work))
    finally:
        erase(scratch)


def refuse_blanks(task: Task) -> None:
    """Refuse a task that still has the template's blanks."""
    for name in ("task.yaml", "instruction.md"):
        path = task.part(name)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if "FILL IN" in line:
                raise UserError(f"{path}:{number}: still has a blank; replace FILL IN by words of your own")


def _chosen(task: Task, only: Sequence[str]) -> list[Variant]:
    found = variants(task)
    known = {name for variant in found for name in (variant.name, variant.kind)}
    for word in only:
        if word not in known:
            raise unknown(f"variant of {task.id}", word, known)
    return [variant for variant in found if not only or {variant.name, variant.kind} & set(only)]


def _print(lines: Sequence[Line], as_json: bool, isolation: str) -> None:
    if as_json:
        print_json(
            [
                {
                    "task": line.task,
                    "instance": line.instance,
                    "kind": line.proof.variant.kind,
                    "variant": line.proof.variant.name,
                    "passed": line.proof.verdict.passed if line.proof.verdict else None,
                    "ok": line.proof.ok,
                    "caught_by": _failed(line.proof),
                    "seconds": line.proof.seconds,
                    "judging_seconds": line.proof.judging_seconds,
                    "metrics": {one.name: one.value for one in line.proof.verdict.metrics}
                    if line.proof.verdict
                    else {},
                    "detail": line.proof.detail,
                }
                for line in lines
            ]
        )
        return
    rows = [
        (
            line.task,
            line.proof.variant.kind,
            line.proof.variant.name,
            _verdict(line.proof),
            "ok" if line.proof.ok else "WRONG",
            _caught(line.proof),
            f"{line.proof.seconds:.1f}",
        )
        for line in sorted(lines, key=lambda line: line.task)
    ]
    print_table(f"Proof ({isolation})", ("task", "kind", "variant", "verdict", "", "caught by", "seconds"), rows)
    wrong = [line for line in lines if not line.proof.ok]
    for line in wrong:
        print(f"WRONG {line.task} {line.proof.variant.name}: {line.proof.detail}")
    tasks = {line.task for line in lines}
    proven = tasks - {line.task for line in wrong}
    right = len(lines) - len(wrong)
    longest = max((line.proof.judging_seconds for line in lines), default=0.0)
    print(
        f"{len(proven)} of {len(tasks)} tasks proven, {right} of {len(lines)} variants as they must be; "
        f"the longest validation took {longest:.1f} s"
    )


def _verdict(proof: Proof) -> str:
    if proof.verdict is None:
        return "broke"
    return "passed" if proof.verdict.passed else "failed"


def _failed(proof: Proof) -> list[str]:
    """Name the checks that did not hold."""
    return [check.name for check in proof.verdict.checks if not check.passed] if proof.verdict else []


def _caught(proof: Proof) -> str:
    failed = _failed(proof)
    return ", ".join(failed[:2]) + (f" and {len(failed) - 2} more" if len(failed) > 2 else "")


def grade_folder(task: Task, folder: Path, profile: str, sandbox: str) -> Verdict:
    """Validate a folder with a draw of its own; a task whose data are drawn needs the study's salt instead."""
    with tempfile.TemporaryDirectory(dir=_scratch()) as place:
        scratch = Path(place)
        settings = RoomSettings(choose(sandbox, trusted=False), task_venv.path(), scratch)
        manifest = collect(
            folder, task.submission, task.submission_max_mb, scratch / "submission.tar", witness=task.protected
        )
        draw = Draw.of(shown_salt(), task.id, 0)
        return validate_submission(task, scratch / "submission.tar", manifest.digest, draw, profile, settings)


def open_shell(task: Task, profile: str, sandbox: str) -> None:
    with tempfile.TemporaryDirectory(dir=_scratch()) as place:
        inside = Path(place) / secrets.token_hex(8)
        isolation, draw = choose(sandbox, trusted=False), Draw.of(shown_salt(), task.id, 0)
        with open_mirror(task, draw, profile, Path(place) / "door", isolation) as mirror:
            print(workspace.build(task, draw, profile, inside, mirror.url if mirror else URL))
            _converse(inside, isolation, mirror)


def _converse(inside: Path, isolation: str, mirror: Mirror | None) -> None:
    """Run each line that is typed in one sandbox."""
    variables, doors = (mirror.environment, mirror.doors) if mirror else ({}, ())
    box = open_sandbox(SandboxSpec(inside, venv=task_venv.path(), environment=variables, doors=doors), isolation)
    try:
        if mirror:
            mirror.serve(box.listeners)
        note(f"{box.isolation} sandbox, workspace {box.inside}; an empty line ends it")
        for line in iter(_typed, ""):
            done = box.run(["bash", "-c", line], seconds=3600)
            sys.stdout.write(done.output.decode(errors="replace"))
            if done.exit_code:
                note(f"exit code {done.exit_code}")
    finally:
        box.close()


def _typed() -> str:
    try:
        return input("$ ")
    except EOFError:
        return ""


def shown_salt() -> bytes:
    """The draw of instances that a person looks at by hand, in `tasks show`, `shell` and `grade`."""
    return b"shown"


def _scratch() -> Path:
    folder = cache_folder() / "scratch"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
