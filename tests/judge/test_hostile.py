"""Hostile submissions: each is refused, for the reason that is meant, and nothing of it takes effect."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from judge.hostile import code, documents, files
from judge.support import Submit

from mldevbench.checks import Room, Unmet, close
from mldevbench.records import Check
from mldevbench.room import RoomSettings
from mldevbench.submission import Submission

PROBE = """
def probe(inputs):
    import model
    return {"outputs": model.double(inputs["inputs"])}
"""


def by_name(table: list) -> list:
    return [pytest.param(case, id=case.name) for case in table]


def attack_files(case: files.Plant, workspace: Path, submit: Submit) -> None:
    (workspace.parent / "secret").write_bytes(files.SECRET)
    (workspace / "fine.txt").write_text("fine", encoding="utf-8")
    (workspace / "loot").mkdir()
    case.plant(workspace)
    submission = submit()
    reasons = {refused.path: refused.reason for refused in submission.refused}
    assert case.reason in reasons.get(case.path, "it was not refused")
    assert submission.bytes("fine.txt") == b"fine"
    assert all(files.SECRET not in submission.bytes(path) for path in submission.files)
    taken = [path for path in submission.folder.rglob("*") if not path.is_dir()]
    assert all(path.is_file() and not path.is_symlink() for path in taken)


@pytest.mark.parametrize("case", by_name(files.TABLE))
def test_files_are_refused(case: files.Plant, workspace: Path, submit: Submit) -> None:
    attack_files(case, workspace, submit)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make devices")
@pytest.mark.parametrize("case", by_name(files.AS_ROOT))
def test_devices_are_refused(case: files.Plant, workspace: Path, submit: Submit) -> None:
    attack_files(case, workspace, submit)


@pytest.mark.parametrize("case", by_name(documents.TABLE))
def test_documents_are_refused(
    case: documents.Document, workspace: Path, submit: Submit, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "document").write_bytes(case.content)
    submission = submit()
    monkeypatch.chdir(workspace)
    with pytest.raises(Unmet, match=re.escape(case.refusal)) as raised:
        case.read(submission, "document")
    assert not (workspace / "pickle-ran").exists()
    said = raised.value
    assert len(said.seen) < 2100 and said.expected
    (said.name + said.expected + said.seen).encode("utf-8")


def verdict_on(submission: Submission, seconds: float = 20) -> Check:
    """Judge a submission as a validator would: inputs drawn afterwards, the comparison outside."""
    inputs = np.random.default_rng().normal(size=50).astype(np.float32) + 10
    try:
        with Room(submission, files=["model.py", "*"]) as room:
            answer = room.call(PROBE, {"inputs": inputs}, seconds, max_mb=5)
    except Unmet as unmet:
        return Check(unmet.name, False, unmet.expected, unmet.seen)
    return close("doubling", answer.get("outputs"), inputs * 2, tolerance=1e-4)


@pytest.mark.parametrize("case", by_name(code.TABLE))
def test_code_is_not_believed(case: code.Code, workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    for name, text in case.files.items():
        (workspace / name).write_text(text, encoding="utf-8")
    impatient = "none by then" in case.seen or "without end" in case.name
    check = verdict_on(submit(), seconds=3 if impatient else 60)
    assert not check.passed
    assert case.seen in f"{check.expected} {check.seen}"
    f"{check.name}{check.expected}{check.seen}".encode()
    assert not any(settings.scratch.glob("*")), "a room leaves nothing behind"


def test_honest_code_is_believed(workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    (workspace / "model.py").write_text(code.HONEST, encoding="utf-8")
    assert verdict_on(submit(), seconds=60).passed
