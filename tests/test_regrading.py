"""What is owed to today's validators: each submission and each distinct snapshot once, and again what was void."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from share.test_share import attempt, regrade
from stats.making import make_study, rows_of
from typer.testing import CliRunner

from mldevbench.catalog import Catalog
from mldevbench.cli.app import app
from mldevbench.records import Outcome, RunRow, Snapshot, SnapshotRow
from mldevbench.regrading import submissions, ungraded
from mldevbench.snapshot import LIST_NAME
from mldevbench.store.study_store import StudyStore

PASSED, FAILED, VOID = Outcome.PASSED, Outcome.FAILED, Outcome.VOID


@pytest.fixture
def catalog(plugins: Path) -> Catalog:
    return Catalog.of([plugins])


@pytest.fixture
def now(catalog: Catalog) -> str:
    """The digest of the validator as it is."""
    return catalog.task("quick").validator_digest()


def study(folder: Path, validator: str) -> tuple[StudyStore, RunRow]:
    """Make a study of one run with a stored submission that this validator judged."""
    store = make_study(folder, "s", rows_of("one", {"quick": "1"}, validator_digest=validator, attempts=1))
    (row,) = store.runs.all()
    archive = f"artifacts/{row.run_id}/1/submission.tar"
    store.place.write(archive, b"what was handed in")
    store.attempts.put(0, [replace(attempt(row, 1), archive=archive, digest="d")])
    return store, row


@pytest.mark.parametrize(
    ("same", "judged", "asked", "owed"),
    [
        (True, {}, {}, []),
        (False, {}, {}, [0]),
        (False, {0: FAILED}, {}, []),
        (False, {0: VOID}, {}, [0]),
        (True, {}, {"everything": True}, [0]),
        (True, {0: PASSED, 1: VOID}, {"everything": True}, [1]),
        (True, {0: PASSED}, {"repeats": 3}, [1, 2]),
        (True, {0: VOID, 1: PASSED}, {"repeats": 3}, [0, 2]),
        (True, {0: PASSED, 1: PASSED}, {"repeats": 1}, []),
    ],
)
def test_what_is_judged_again(
    same: bool, judged: dict[int, Outcome], asked: dict, owed: list[int], catalog: Catalog, now: str, tmp_path: Path
) -> None:
    store, row = study(tmp_path, now if same else "another")
    made = [
        replace(regrade(row), repeat=repeat, outcome=one, validator_digest=now, validator_digest_before=now)
        for repeat, one in judged.items()
    ]
    store.regrades.put(0, made)
    found = submissions(store, catalog, **asked)
    assert [one.repeat for one in found.again] == owed and found.gone == 0


def test_a_submission_that_is_gone_is_counted(catalog: Catalog, tmp_path: Path) -> None:
    store, row = study(tmp_path, "another")
    (tmp_path / "s" / f"artifacts/{row.run_id}/1/submission.tar").unlink()
    found = submissions(store, catalog)
    assert (found.again, found.gone) == ((), 1)


def test_snapshots_are_owed_until_they_have_a_verdict(catalog: Catalog, now: str, tmp_path: Path) -> None:
    store, row = study(tmp_path, now)
    places = {"x": "snapshots/0000.tar", "y": "snapshots/0002.tar"}
    taken = [Snapshot(number, number, 0, None, 0.0, places[one], one) for number, one in enumerate("xxy")]
    store.place.write(f"artifacts/{row.run_id}/1/{LIST_NAME}", json.dumps([asdict(one) for one in taken]).encode())

    def owed() -> list[tuple[str, list[int]]]:
        return [(one.archive[-8:], [each.number for each in one.snapshots]) for one in ungraded(store, catalog)]

    def grade(number: int, outcome: Outcome) -> None:
        seen = SnapshotRow(
            "s", row.run_id, 1, number, row.label, row.task, 1, 0, None, 0.0, "", outcome, None, None, "{}", now, 0.0
        )  # fmt: skip
        store.snapshots.put(0, [seen])

    assert owed() == [("0000.tar", [0, 1]), ("0002.tar", [2])]
    grade(0, PASSED)
    grade(1, PASSED)
    grade(2, VOID)
    assert owed() == [("0002.tar", [2])], "a void judgement is no verdict"
    grade(2, FAILED)
    assert owed() == []


@pytest.mark.parametrize(("outcome", "code", "changed"), [(PASSED, 0, 0), (FAILED, 0, 1), (VOID, 3, 0)])
def test_a_void_judgement_changes_nothing_and_is_owed(
    outcome: Outcome, code: int, changed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, row = study(tmp_path, "another")
    made = [replace(regrade(row), outcome=outcome)]
    monkeypatch.setattr("mldevbench.cli.regrade.judge_again", lambda *_: made)
    done = CliRunner().invoke(app, ["regrade", "s", "--storage", str(tmp_path)])
    assert done.exit_code == code and f"1 judged again, {changed} changed" in done.output
