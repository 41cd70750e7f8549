"""Submissions: what is declared is taken, byte for byte, and damage is never unpacked."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from mldevbench.errors import Fault, UserError
from mldevbench.submission import (
    Refused,
    collect,
    erase,
    matches,
    open_submission,
    read_manifest,
    refusals_that_matter,
)
from mldevbench.submission.archive import read_through
from mldevbench.submission.walk import Found
from mldevbench.unmet import Unmet

PATTERNS = [
    ("train.py", "train.py", True),
    ("sub/train.py", "train.py", False),
    ("checkpoints/a/b.pt", "checkpoints/**", True),
    ("checkpoints", "checkpoints/**", False),
    ("checkpoints2/a", "checkpoints/**", False),
    ("out/a.npy", "out/", True),
    ("a.json", "*.json", True),
    ("sub/a.json", "*.json", False),
    ("sub/deep/a.json", "**/*.json", True),
    ("a.json", "**/*.json", True),
    ("a/x/y/b/z", "a/**/b/*", True),
    ("a/b/z", "a/**/b/*", True),
    ("a/b/z/w", "a/**/b/*", False),
    ("epoch_7.pt", "epoch_?.pt", True),
    ("epoch_17.pt", "epoch_?.pt", False),
    (".hidden", "*", True),
]


@pytest.mark.parametrize(("path", "pattern", "expected"), PATTERNS)
def test_patterns(path: str, pattern: str, expected: bool) -> None:
    assert matches(path, [pattern]) is expected


@pytest.mark.parametrize("pattern", ["/etc/passwd", "../x", "a/../b", "a//b", "./a", ""])
def test_patterns_that_lead_elsewhere_are_refused(pattern: str, workspace: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="relative to the workspace"):
        collect(workspace, [pattern], 1, tmp_path / "a.tar")


def fill(workspace: Path) -> dict[str, bytes]:
    content = {
        "train.py": b"print(1)\n",
        "checkpoints/a/last.pt": os.urandom(3_000_001),
        "checkpoints/empty": b"",
        f"checkpoints/{'n' * 200}/{'m' * 200}": b"long",
        "checkpoints/größe ☃": b"unicode",
    }
    for path, data in content.items():
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_bytes(data)
    (workspace / "notes.txt").write_text("not declared", encoding="utf-8")
    return content


def test_round_trip(workspace: Path, tmp_path: Path) -> None:
    content = fill(workspace)
    manifest = collect(workspace, ["train.py", "checkpoints/**"], 10, tmp_path / "a.tar", witness=["*.txt", "gone"])
    assert manifest.digest == hashlib.sha256((tmp_path / "a.tar").read_bytes()).hexdigest()
    submission = open_submission(tmp_path / "a.tar", manifest.digest, tmp_path / "opened")
    assert {path: submission.bytes(path, 5000) for path in submission.files} == content
    assert submission.matching("checkpoints/*/*.pt") == ["checkpoints/a/last.pt"]
    assert list(submission.witnessed) == ["notes.txt"] and not submission.has("notes.txt")
    assert read_manifest(tmp_path / "a.tar").files == manifest.files


def test_an_archive_says_nothing_of_when_and_by_whom(workspace: Path, tmp_path: Path) -> None:
    fill(workspace)
    first = collect(workspace, ["**"], 10, tmp_path / "a.tar")
    (workspace / "train.py").chmod(0o755)
    os.utime(workspace / "train.py", (1, 1))
    assert collect(workspace, ["**"], 10, tmp_path / "b.tar").digest == first.digest
    with tarfile.open(tmp_path / "a.tar") as tar:
        members = tar.getmembers()
    assert members[0].name == ".manifest.json"
    assert {(m.mode, m.mtime, m.uid, m.uname, m.isreg()) for m in members} == {(0o644, 0, 0, "", True)}
    assert sorted(m.name for m in members[1:]) == [m.name for m in members[1:]]
    assert sorted(p.name for p in tmp_path.glob("*.tar*")) == ["a.tar", "b.tar"]


def test_hard_links_within_the_workspace_are_copied(workspace: Path, tmp_path: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub/a").write_bytes(b"one")
    os.link(workspace / "sub/a", workspace / "b")
    manifest = collect(workspace, ["b"], 1, tmp_path / "a.tar")
    (workspace / "sub/a").write_bytes(b"two")
    assert open_submission(tmp_path / "a.tar", manifest.digest, tmp_path / "o").bytes("b") == b"one"


def test_a_file_that_changes_meanwhile_is_not_taken(workspace: Path) -> None:
    path = workspace / "a"
    path.write_bytes(b"12345678")
    descriptor = os.open(path, os.O_RDONLY)
    found = Found("a", descriptor, os.fstat(descriptor))

    def meddle(_: bytes) -> None:
        path.write_bytes(b"123456789")

    try:
        with pytest.raises(Exception, match="changed while it was read"):
            read_through(found, meddle)
    finally:
        os.close(descriptor)


def tampered(archive: Path, member: tarfile.TarInfo, data: bytes = b"") -> str:
    """Put one more member behind an archive's own and return the new digest."""
    with tarfile.open(archive, "a") as tar:
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def odd_member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize(
    "member",
    [
        odd_member("../escape"),
        odd_member("/abs"),
        odd_member("link", tarfile.SYMTYPE, "/etc/passwd"),
        odd_member("train.py"),
        odd_member("dev", tarfile.CHRTYPE),
    ],
    ids=lambda member: member.name,
)
def test_members_that_the_manifest_does_not_know_are_refused(
    member: tarfile.TarInfo, workspace: Path, tmp_path: Path
) -> None:
    fill(workspace)
    collect(workspace, ["train.py"], 1, tmp_path / "a.tar")
    digest = tampered(tmp_path / "a.tar", member)
    with pytest.raises(Fault, match="storage_error"):
        open_submission(tmp_path / "a.tar", digest, tmp_path / "opened")
    assert not (tmp_path / "escape").exists()


def test_a_flipped_bit_is_noticed_by_either_digest(workspace: Path, tmp_path: Path) -> None:
    fill(workspace)
    manifest = collect(workspace, ["train.py"], 1, tmp_path / "a.tar")
    raw = (tmp_path / "a.tar").read_bytes().replace(b"print(1)", b"print(2)")
    (tmp_path / "a.tar").write_bytes(raw)
    for digest, reason in ((manifest.digest, "not the recorded one"), (hashlib.sha256(raw).hexdigest(), "another")):
        with pytest.raises(Fault, match=reason):
            open_submission(tmp_path / "a.tar", digest, tmp_path / digest)


def test_an_archive_cut_short_is_a_storage_error(workspace: Path, tmp_path: Path) -> None:
    fill(workspace)
    collect(workspace, ["**"], 10, tmp_path / "a.tar")
    raw = (tmp_path / "a.tar").read_bytes()[:100_000]
    (tmp_path / "a.tar").write_bytes(raw)
    with pytest.raises(Fault, match="storage_error"):
        open_submission(tmp_path / "a.tar", hashlib.sha256(raw).hexdigest(), tmp_path / "opened")


def test_refusals_matter_where_something_declared_depends_on_them() -> None:
    link = Refused("checkpoints", "a symbolic link")
    extra = Refused("out/cache/x", "a symbolic link")
    big = Refused("out/huge", "2 bytes", limit=True)
    assert refusals_that_matter([link, extra, big], ["checkpoints/best.pt", "out/**"]) == [link, big]
    assert refusals_that_matter([extra], ["out/**", "*.json"]) == []


def test_what_is_missing_is_said_in_words(workspace: Path, tmp_path: Path) -> None:
    (workspace / "best.pt").symlink_to("last.pt")
    manifest = collect(workspace, ["**"], 1, tmp_path / "a.tar")
    submission = open_submission(tmp_path / "a.tar", manifest.digest, tmp_path / "o")
    with pytest.raises(Unmet, match=r"best\.pt was refused: a symbolic link"):
        submission.path("best.pt")
    with pytest.raises(Unmet, match="no file other"):
        submission.bytes("other")


def test_a_disk_of_ours_that_fails_is_not_blamed_on_the_workspace(workspace: Path, tmp_path: Path) -> None:
    fill(workspace)
    with pytest.raises(Fault, match="storage_error"):
        collect(workspace, ["**"], 10, tmp_path / "missing" / "a.tar")


def test_many_refusals_do_not_swell_the_manifest(workspace: Path, tmp_path: Path) -> None:
    for number in range(600):
        (workspace / f"link{number}").symlink_to("nowhere")
    refused = collect(workspace, ["**"], 1, tmp_path / "a.tar").refused
    assert len(refused) == 501 and refused[-1].reason == "100 more were refused"
    assert refusals_that_matter(refused, ["**"]) == []


def test_erase_removes_what_rmtree_can_not(tmp_path: Path) -> None:
    top = tmp_path / "deep"
    top.mkdir()
    here = os.open(top, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    with pytest.raises((RecursionError, OSError)):
        shutil.rmtree(top)
    erase(top)
    assert not top.exists()
