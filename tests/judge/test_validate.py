"""Validation and proof of a small task: verdicts, protected files, broken validators and whose fault they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from judge.toy import make_task

from mldevbench import workspace as workspaces
from mldevbench.draw import Draw
from mldevbench.errors import Fault
from mldevbench.prove import prove, variants
from mldevbench.records import Cause, StopReason, Verdict
from mldevbench.room import RoomSettings
from mldevbench.submission import collect
from mldevbench.task import Task
from mldevbench.validate import Judgement, ValidatorBroke, judge, validate_submission
from mldevbench.validate.variant import make, reference

DRAW = Draw.of(b"salt", "doubling", 0)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return make_task(tmp_path)


@pytest.fixture
def work(tmp_path: Path, task: Task) -> Path:
    """An attempt's workspace in which the task is solved."""
    place = tmp_path / "attempt"
    workspaces.build(task, DRAW, "mini", place)
    (place / "double.py").write_text("def double(x):\n    return x + x\n", encoding="utf-8")
    given = int((place / "given.txt").read_text(encoding="utf-8"))
    (place / "answer.txt").write_text(f"{given * 2}\n", encoding="utf-8")
    return place


def submitted(task: Task, work: Path) -> tuple[Path, str]:
    archive = work.parent / "submission.tar"
    manifest = collect(work, task.submission, task.submission_max_mb, archive, witness=task.protected)
    return archive, manifest.digest


def verdict_on(task: Task, work: Path, settings: RoomSettings) -> Verdict:
    return validate_submission(task, *submitted(task, work), DRAW, "mini", settings)


def test_a_good_submission_passes(task: Task, work: Path, settings: RoomSettings) -> None:
    verdict = verdict_on(task, work, settings)
    assert verdict.passed, verdict
    assert [check.name for check in verdict.checks] == ["protected files", "answer", "doubling"]
    assert [metric.name for metric in verdict.metrics] == ["largest"]
    assert not any(settings.scratch.iterdir())


def linked(work: Path) -> None:
    (work / "answer.txt").unlink()
    (work / "answer.txt").symlink_to("given.txt")


def too_big(work: Path) -> None:
    (work / "more").mkdir()
    with (work / "more/huge").open("wb") as file:
        file.truncate(1 << 40)


SPOILT: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "protected file changed": (lambda w: (w / "given.txt").write_text("5"), "protected files", "given.txt was changed"),
    "protected file gone": (lambda w: (w / "given.txt").unlink(), "protected files", "given.txt is missing"),
    "declared file is a link": (linked, "submission", "answer.txt: a symbolic link"),
    "too big": (too_big, "submission", "more/huge: 1,099,511,627,776 bytes"),
    "no answer": (lambda w: (w / "answer.txt").unlink(), "answer.txt", "no file answer.txt"),
    "wrong answer": (lambda w: (w / "answer.txt").write_text("-1"), "answer", "-1"),
    "broken code": (lambda w: (w / "double.py").write_text("boom"), "calling the submitted code", "NameError"),
}


@pytest.mark.parametrize("spoil", SPOILT)
def test_what_is_wrong_is_said(spoil: str, task: Task, work: Path, settings: RoomSettings) -> None:
    act, name, seen = SPOILT[spoil]
    act(work)
    failed = {check.name: check for check in verdict_on(task, work, settings).checks if not check.passed}
    assert seen in failed[name].seen and failed[name].expected


def test_links_that_nothing_depends_on_do_no_harm(task: Task, work: Path, settings: RoomSettings) -> None:
    (work / "more").mkdir()
    (work / "more/latest").symlink_to("/etc/passwd")
    assert verdict_on(task, work, settings).passed


def test_a_damaged_archive_is_no_failure_of_the_attempt(task: Task, work: Path, settings: RoomSettings) -> None:
    archive, digest = submitted(task, work)
    archive.write_bytes(archive.read_bytes().replace(b"x + x", b"x * x"))
    with pytest.raises(Fault, match="storage_error"):
        validate_submission(task, archive, digest, DRAW, "mini", settings)
    assert judge(task, archive, digest, DRAW, "mini", settings).cause == Cause.STORAGE_ERROR


BROKEN = {
    "raises": "def validate(s, d, p):\n    yield 1 / 0\n",
    "yields something else": "def validate(s, d, p):\n    yield True\n",
    "yields nothing": "def validate(s, d, p):\n    yield from ()\n",
    "does not compile": "def validate(",
    "has no validate": "x = 1\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_validator_is_void_since_the_reference_errs_too(
    text: str, work: Path, tmp_path: Path, settings: RoomSettings
) -> None:
    task = make_task(tmp_path, validate_py=text)
    with pytest.raises(ValidatorBroke):
        verdict_on(task, work, settings)
    judgement = judge(task, *submitted(task, work), DRAW, "mini", settings)
    assert (judgement.verdict, judgement.cause, judgement.stop_reason) == (None, Cause.VALIDATOR_ERROR, None)


def test_a_submission_that_breaks_the_validator_is_its_own_failure(
    task: Task, work: Path, settings: RoomSettings
) -> None:
    (work / "more").mkdir()
    (work / "more/break").touch()
    judgement = judge(task, *submitted(task, work), DRAW, "mini", settings)
    assert (judgement.cause, judgement.stop_reason) == (None, StopReason.UNVALIDATABLE)
    assert "ZeroDivisionError" in judgement.detail


def test_judge_returns_the_verdict(task: Task, work: Path, settings: RoomSettings) -> None:
    judgement = judge(task, *submitted(task, work), DRAW, "mini", settings)
    assert judgement == Judgement(judgement.verdict) and judgement.verdict and judgement.verdict.passed


def test_a_sandbox_that_fails_for_everybody_is_void(task: Task, work: Path, settings: RoomSettings) -> None:
    nowhere = replace(settings, isolation="docker")
    judgement = judge(task, *submitted(task, work), DRAW, "mini", nowhere)
    assert judgement.cause == Cause.VALIDATOR_ERROR or judgement.verdict, "docker works here after all"


def test_validation_ends_with_the_tasks_time(task: Task, work: Path, settings: RoomSettings) -> None:
    verdict = verdict_on(task, work, replace(settings, deadline=0.0))
    assert verdict.checks[-1].name == "time" and not verdict.passed


def test_variants(task: Task) -> None:
    listed = [(variant.kind, variant.name) for variant in variants(task)]
    assert listed == [
        ("solution", "solution"),
        ("noop", "noop"),
        ("alternative", "addition"),
        ("cheat", "edits_given"),
        ("cheat", "exits"),
        ("mutant", "triples"),
    ]


@pytest.mark.parametrize("name", ["solution", "noop", "addition", "edits_given", "exits", "triples"])
def test_every_variant_is_proven(name: str, task: Task, settings: RoomSettings) -> None:
    (variant,) = (variant for variant in variants(task) if variant.name == name)
    proof = prove(
        task,
        variant,
        instance=1,
        salt=b"salt",
        profile="mini",
        isolation=settings.isolation,
        venv=settings.venv,
        scratch=settings.scratch,
    )
    assert proof.ok, proof
    assert proof.verdict and proof.verdict.passed is variant.must_pass
    assert not any(settings.scratch.iterdir())


def test_a_cheat_that_gets_through_is_not_ok(task: Task, settings: RoomSettings) -> None:
    cheat = replace(reference(task), kind="cheat")
    proof = prove(
        task,
        cheat,
        instance=0,
        salt=b"salt",
        profile="mini",
        isolation=settings.isolation,
        venv=settings.venv,
        scratch=settings.scratch,
    )
    assert not proof.ok and proof.verdict and proof.verdict.passed


def test_solve_is_no_part_of_the_workspace_and_its_failure_is_told(tmp_path: Path, settings: RoomSettings) -> None:
    task = make_task(tmp_path, **{"solution/solve_sh": "ls > more.txt; mkdir more; ls > more/names; exit 3\n"})
    made = make(task, reference(task), DRAW, "mini", settings, tmp_path / "made.tar")
    assert "exit code 3" in made.trouble
    assert "more/names" in {entry.path for entry in made.manifest.files}
    assert b"solve.sh" not in made.archive.read_bytes()
