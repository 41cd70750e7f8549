"""Studies as files and together: what goes along, what is refused, what stays."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from stats.making import make_study, rows_of
from typer.testing import CliRunner

from mldevbench.cli.app import app
from mldevbench.draw import salt_digest
from mldevbench.errors import UserError
from mldevbench.records import AttemptRow, RegradeRow, RunRow, StepRow
from mldevbench.share.artifact import Kind
from mldevbench.share.merging import merge
from mldevbench.share.packing import Wanted, export
from mldevbench.share.pruning import prune
from mldevbench.share.unpacking import take_in
from mldevbench.store.lease import Lease
from mldevbench.store.place import open_place
from mldevbench.store.salt import read_salt
from mldevbench.store.study_store import StudyStore, find_study

TASKS = {"a": "10", "b": "11"}
SECRET_HOST = "gpu-box.internal"


def attempt(row: RunRow, number: int) -> AttemptRow:
    return AttemptRow(
        study=row.study, run_id=row.run_id, attempt=number, phase="graded", outcome=row.outcome, cause=None,
        stop_reason=None, detail=f"ran on {SECRET_HOST}", archive=None, digest=None, steps=1, prompt_tokens=0,
        completion_tokens=0, cached_tokens=0, reasoning_tokens=0, cost_usd=0.5, model_seconds=0.0, wait_seconds=0.0,
        model_served=None, wall_seconds=1.0, working_seconds=1.0, gpu_seconds=0.0, gpu_type=None, gpu_shared=False,
        node=SECRET_HOST, isolation="bubblewrap", network="none", started_at=row.started_at, finished_at=None,
    )  # fmt: skip


def regrade(row: RunRow) -> RegradeRow:
    return RegradeRow(
        study=row.study, run_id=row.run_id, attempt=2, label=row.label, task=row.task, outcome=row.outcome,
        outcome_before=row.outcome, cause=None, score=1.0, score_before=1.0, metrics="{}", validator_digest="v",
        validator_digest_before="v", validate_seconds=0.1, regraded_at=row.started_at, mldevbench_version="0",
    )  # fmt: skip


def step(row: RunRow) -> StepRow:
    return StepRow(row.study, row.run_id, 1, 1, "model", None, None, None, 1.0, 1, 1, 0.5, 1, 2, 0.5)


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    return tmp_path / "results"


def study(storage: Path, name: str = "mine", label: str = "one", **changes: object) -> StudyStore:
    """Make a study with artifacts of every kind; each run's first attempt was lost."""
    salt = salt_digest(read_salt(open_place(str(storage))))
    rows = rows_of(label, TASKS, **{"node": SECRET_HOST, "salt_digest": salt, "attempts": 2, **changes})
    store = make_study(storage, name, rows)
    for row in store.runs.all():
        store.attempts.put(0, [attempt(row, 1), attempt(row, 2)])
        store.steps.put(0, [step(row)])
        store.regrades.put(0, [regrade(row)])
        for number in (1, 2):
            for file in ("verdict.json", "trajectory-00000.jsonl", "submission.tar"):
                store.place.write(f"artifacts/{row.run_id}/{number}/{file}", f"{file} of {number}".encode())
    return find_study(name, str(storage))


def results(store: StudyStore) -> dict[str, RunRow]:
    return {row.run_id: replace(row, node=None) for row in store.runs.all()}


def names(file: Path) -> set[str]:
    with tarfile.open(file) as tar:
        return {member.name for member in tar.getmembers()}


def test_an_export_holds_no_more_than_asked_for(storage: Path, tmp_path: Path) -> None:
    store, file = study(storage), tmp_path / "out.tar"
    export(store, open_place(str(storage)), file, Wanted())
    held = names(file)
    assert not [name for name in held if "trajectory" in name or "submission" in name or name.startswith("steps")]
    assert "salt" not in held
    assert SECRET_HOST.encode() not in file.read_bytes()
    assert (storage / ".salt").read_bytes().strip() not in file.read_bytes()


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz"])
def test_what_is_exported_comes_back_the_same(storage: Path, tmp_path: Path, suffix: str) -> None:
    store, file = study(storage), tmp_path / f"out{suffix}"
    export(store, open_place(str(storage)), file, Wanted(True, True, True, True))
    other = tmp_path / "other"
    name, manifest = take_in(file, open_place(str(other)))
    taken = find_study(name, str(other))
    assert (name, manifest.runs) == ("mine", 4)
    assert list(taken.runs.all()) == list(store.runs.all())
    assert list(taken.steps.all()) == list(store.steps.all())
    assert list(taken.regrades.all()) == list(store.regrades.all())
    run_id = next(iter(results(store)))
    assert taken.place.read(f"artifacts/{run_id}/2/submission.tar") == b"submission.tar of 2"
    assert (other / ".salt").read_bytes() == (storage / ".salt").read_bytes()
    assert (other / ".salt").stat().st_mode & 0o777 == 0o600


def test_hidden_hosts_are_numbered(storage: Path, tmp_path: Path) -> None:
    export(study(storage), open_place(str(storage)), tmp_path / "out.tar", Wanted())
    take_in(tmp_path / "out.tar", open_place(str(storage)), "again")
    again = find_study("again", str(storage))
    assert {row.node for row in again.runs.all()} == {"node-1"}
    assert {row.detail for row in again.attempts.all()} == {"ran on node-1"}


def test_a_name_that_is_taken_is_refused(storage: Path, tmp_path: Path) -> None:
    export(study(storage), open_place(str(storage)), tmp_path / "out.tar", Wanted())
    with pytest.raises(UserError, match="is there already"):
        take_in(tmp_path / "out.tar", open_place(str(storage)))
    with pytest.raises(UserError, match="is there already"):
        export(find_study("mine", str(storage)), open_place(str(storage)), tmp_path / "out.tar", Wanted())


def test_another_salt_is_refused(storage: Path, tmp_path: Path) -> None:
    export(study(storage), open_place(str(storage)), tmp_path / "out.tar", Wanted(salt=True))
    other = open_place(str(tmp_path / "other"))
    read_salt(other)
    with pytest.raises(UserError, match="a salt of its own"):
        take_in(tmp_path / "out.tar", other)
    assert not other.has("mine/study.yaml")


def rewritten(file: Path, change: Callable[[dict[str, bytes]], None]) -> None:
    with tarfile.open(file) as tar:
        members = {member.name: tar.extractfile(member).read() for member in tar.getmembers()}  # type: ignore[union-attr]
    change(members)
    with tarfile.open(file, "w") as tar:
        for name, data in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))


def with_outside_file(members: dict[str, bytes]) -> None:
    members["../../escaped"] = b"x"


def with_changed_rows(members: dict[str, bytes]) -> None:
    members["runs/part-00000.parquet"] += b"x"


def with_forged_rows(members: dict[str, bytes]) -> None:
    from mldevbench.digest import of_bytes

    members["runs/part-00000.parquet"] = b"no table"
    manifest = json.loads(members["manifest.json"])
    manifest["files"]["runs/part-00000.parquet"] = of_bytes(b"no table")
    members["manifest.json"] = json.dumps(manifest).encode()


def without_manifest(members: dict[str, bytes]) -> None:
    del members["manifest.json"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (with_outside_file, "which no export does"),
        (with_changed_rows, "was changed after the export"),
        (with_forged_rows, "is not what an export holds"),
        (without_manifest, "no study that mldevbench exported"),
    ],
)
def test_a_tampered_file_is_refused(storage: Path, tmp_path: Path, change, words: str) -> None:
    file = tmp_path / "out.tar"
    export(study(storage), open_place(str(storage)), file, Wanted())
    rewritten(file, change)
    other = tmp_path / "other"
    with pytest.raises(UserError, match=words):
        take_in(file, open_place(str(other)))
    assert not (other / "mine" / "study.yaml").exists()
    assert not list(tmp_path.glob("**/escaped"))


def test_a_link_in_the_file_is_refused(storage: Path, tmp_path: Path) -> None:
    file = tmp_path / "out.tar"
    export(study(storage), open_place(str(storage)), file, Wanted())
    with tarfile.open(file, "a") as tar:
        link = tarfile.TarInfo(f"artifacts/{'0' * 16}/1/submission.tar")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(UserError, match="which no export does"):
        take_in(file, open_place(str(tmp_path / "other")))


def test_merging_unites_and_keeps_the_origin(storage: Path) -> None:
    first, second = study(storage), study(storage, "theirs", "two")
    merged = merge([first, second], StudyStore(open_place(str(storage / "both"))))
    both = find_study("both", str(storage))
    assert (merged.runs, merged.taken) == (8, {"mine": 4, "theirs": 4})
    assert results(both) == results(first) | results(second)
    assert {row.study for row in both.runs.all()} == {"mine", "theirs"}
    assert len(list(both.attempts.all())) == 16
    assert len(list(both.regrades.all())) == 8
    run_id = next(iter(results(second)))
    assert both.place.read(f"artifacts/{run_id}/1/verdict.json") == b"verdict.json of 1"


def test_merging_copies_of_one_study_adds_nothing(storage: Path, tmp_path: Path) -> None:
    first = study(storage)
    export(first, open_place(str(storage)), tmp_path / "out.tar", Wanted())
    take_in(tmp_path / "out.tar", open_place(str(storage)), "copy")
    merged = merge([first, find_study("copy", str(storage))], StudyStore(open_place(str(storage / "both"))))
    assert merged.taken == {"mine": 4, "copy": 0}


def test_a_judged_run_replaces_a_void_one_and_contradictions_are_refused(storage: Path) -> None:
    first = study(storage)
    other = make_study(
        storage, "theirs", rows_of("one", {"a": "1v", "b": "11"}, salt_digest=next(first.runs.all()).salt_digest)
    )
    with pytest.raises(UserError, match="contradict each other on run"):
        merge([first, other], StudyStore(open_place(str(storage / "both"))))
    assert not (storage / "both").exists()
    void = make_study(storage, "void", rows_of("one", {"a": "vv"}, salt_digest=next(first.runs.all()).salt_digest))
    merged = merge([void, first], StudyStore(open_place(str(storage / "both"))))
    assert merged.taken == {"void": 0, "mine": 4}


def test_studies_that_can_t_stand_together_are_refused(storage: Path, tmp_path: Path) -> None:
    first = study(storage)
    request = (storage / "mine" / "study.yaml").read_text(encoding="utf-8")
    second = study(storage, "theirs", "two")
    (storage / "theirs" / "study.yaml").write_text(
        request.replace("isolation: bubblewrap", "isolation: process"), encoding="utf-8"
    )
    with pytest.raises(UserError, match="isolation"):
        merge([first, second], StudyStore(open_place(str(storage / "both"))))
    assert not (storage / "both").exists()


def test_pruning_says_first_and_removes_only_what_was_named(storage: Path) -> None:
    store = study(storage)
    before = results(store)
    looked = prune(store, (), superseded=False, dry_run=False)
    assert (looked.files, looked.done) == (0, False)
    assert looked.bytes_by_kind["submission"] == 8 * len("submission.tar of 1")
    assert prune(store, [Kind.SUBMISSION], superseded=False, dry_run=True).ungradable == 4
    pruned = prune(store, [Kind.TRAJECTORY], superseded=True, dry_run=False)
    assert pruned.files == 4 * 4
    assert pruned.ungradable == 0
    left = {path.name for path in (storage / "mine" / "artifacts").glob("*/*/*")}
    assert left == {"verdict.json", "submission.tar"}
    assert results(find_study("mine", str(storage))) == before


def test_what_a_resume_may_need_stays(storage: Path) -> None:
    store = study(storage)
    owed = f"artifacts/{'f' * 16}/1/submission.tar"
    store.place.write(owed, b"submitted, not yet judged")
    prune(store, list(Kind), superseded=True, dry_run=False)
    assert store.place.has(owed)


def test_a_study_that_is_being_run_is_not_pruned(storage: Path) -> None:
    store = study(storage)
    Lease(store.place).take(sleep=lambda _: None)
    with pytest.raises(UserError, match="is being run"):
        prune(store, [Kind.TRAJECTORY], superseded=False, dry_run=False)


def test_the_commands(storage: Path, tmp_path: Path) -> None:
    study(storage)
    file = str(tmp_path / "out.tar")
    for words, said in (
        (["export", "mine", file], "4 runs of mine written"),
        (["import", file, "--name", "copy"], "4 runs taken in as copy"),
        (["merge", "mine", "copy", "--name", "both"], "4 runs in both: 4 of mine, 0 of copy"),
        (["prune", "mine", "--submissions", "--dry-run"], "4 runs can't be validated again"),
    ):
        result = CliRunner().invoke(app, [*words, "--storage", str(storage)], catch_exceptions=False)
        assert said in result.stdout
