"""Hostile submissions: each is refused, for the reason that is meant, and nothing of it takes effect."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest
from judge.hostile import checkpoints, code, documents, files
from judge.support import Submit

from mldevbench.checks import Room, Unmet, close
from mldevbench.records import Check
from mldevbench.room import RoomSettings
from mldevbench.submission import Submission, archive

PROBE = """
def probe(inputs):
    import model
    return {"outputs": model.double(inputs["inputs"])}
"""

WARM_PROBE = f"import torch\n{PROBE}"


def by_name(table: list, quick: frozenset[str] | None = None) -> list:
    """Return the cases as parameters; with `quick`, all others are marked slow."""
    slow = [] if quick is None else [pytest.mark.slow]
    return [pytest.param(case, id=case.name, marks=[] if case.name in (quick or ()) else slow) for case in table]


def attack_files(case: files.Plant, workspace: Path, submit: Submit) -> None:
    (workspace.parent / "secret").write_bytes(files.SECRET)
    (workspace / "fine.txt").write_text("fine", encoding="utf-8")
    (workspace / "loot").mkdir()
    case.plant(workspace)
    submission = submit(("fine.txt", "only.txt", "loot/**", ".m*"))
    reasons = {refused.path: refused.reason for refused in submission.refused}
    assert case.reason in reasons.get(case.path, "it was not refused")
    assert submission.bytes("fine.txt") == b"fine"
    assert all(files.SECRET not in submission.bytes(path) for path in submission.files)
    taken = [path for path in submission.folder.rglob("*") if not path.is_dir()]
    assert all(path.is_file() and not path.is_symlink() for path in taken)


@pytest.mark.parametrize("case", by_name(files.TABLE))
def test_files_are_refused(case: files.Plant, workspace: Path, submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILES", files.MAX_FILES)
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


def verdict_on(submission: Submission, seconds: float = 60, probe: str = PROBE) -> Check:
    """Judge a submission as a validator would: inputs drawn afterwards, the comparison outside, called twice."""
    inputs = np.random.default_rng().normal(size=50).astype(np.float32) + 10
    try:
        with Room(submission, files=["model.py", "*"]) as room:
            room.call(probe, {"inputs": inputs}, seconds, max_mb=5)
            answer = room.call(probe, {"inputs": inputs}, seconds, max_mb=5)
    except Unmet as unmet:
        return Check(unmet.name, False, unmet.expected, unmet.seen)
    return close("doubling", answer.get("outputs"), inputs * 2, tolerance=1e-4)


def attack_with_code(case: code.Code, workspace: Path, submit: Submit, probe: str) -> None:
    for name, text in case.files.items():
        (workspace / name).write_text(text, encoding="utf-8")
    check = verdict_on(submit(), 3 if code.endless(case) else 60, probe)
    assert not check.passed
    assert case.seen in f"{check.expected} {check.seen}"
    f"{check.name}{check.expected}{check.seen}".encode()


@pytest.mark.parametrize("case", by_name(code.TABLE, code.QUICK))
def test_code_is_not_believed(case: code.Code, workspace: Path, submit: Submit, settings: RoomSettings) -> None:
    attack_with_code(case, workspace, submit, PROBE)
    assert not any(settings.scratch.glob("*")), "a room leaves nothing behind"


@pytest.mark.slow
@pytest.mark.parametrize("case", by_name(code.TABLE))
def test_code_is_not_believed_in_a_warm_process(
    case: code.Code, workspace: Path, submit: Submit, warm_settings: RoomSettings
) -> None:
    attack_with_code(case, workspace, submit, WARM_PROBE)


@pytest.mark.parametrize("probe", [PROBE, pytest.param(WARM_PROBE, marks=pytest.mark.slow)])
def test_honest_code_is_believed(probe: str, workspace: Path, submit: Submit, warm_settings: RoomSettings) -> None:
    (workspace / "model.py").write_text(code.HONEST, encoding="utf-8")
    assert verdict_on(submit(), probe=probe).passed


@pytest.mark.slow
@pytest.mark.parametrize("case", by_name(checkpoints.TABLE))
def test_checkpoints_are_refused(
    case: checkpoints.Checkpoint, workspace: Path, submit: Submit, warm_settings: RoomSettings
) -> None:
    case.write(workspace / "model.pt")
    with pytest.raises(Unmet, match=case.refusal), Room(submit(max_mb=50), files=["model.pt"]) as room:
        arrays = room.load_weights("model.pt", seconds=60, max_mb=20)
        checkpoints.demand(arrays)
    assert not Path("pickle-ran").exists() and not (workspace / "pickle-ran").exists()
