"""What a mirror holds and what it knows of the hub's repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from mldevbench.mirror import cut, fails
from mldevbench.mirror.hub import Missing, answer_api, find_file
from mldevbench.mirror.shelf import shelve


def test_plain_files_and_repositories_are_kept_apart(served: Path) -> None:
    shelf = shelve(served)
    assert list(shelf.files) == ["data/numbers.bin"]
    assert list(shelf.repositories) == [("models", "quiet/tiny")]
    assert list(shelf.repositories["models", "quiet/tiny"].files) == ["config.json", "extra/words.txt"]


def test_a_repository_without_an_owner(served: Path) -> None:
    (served / "hub" / "datasets" / "alone").mkdir(parents=True)
    (served / "hub" / "datasets" / "alone" / "README.md").write_text("x", encoding="utf-8")
    assert ("datasets", "alone") in shelve(served).repositories


def test_the_commit_follows_the_content(served: Path) -> None:
    first = shelve(served).repositories["models", "quiet/tiny"].commit
    assert first == shelve(served).repositories["models", "quiet/tiny"].commit and len(first) == 40
    (served / "hub/models/quiet/tiny/config.json").write_text("{}", encoding="utf-8")
    assert shelve(served).repositories["models", "quiet/tiny"].commit != first


def test_a_fault_that_passes_and_one_that_stays(served: Path) -> None:
    shelf = shelve(served, [fails("a", 500, times=2), cut("b")])
    assert [shelf.fault("a") is not None for _ in range(4)] == [True, True, False, False]
    assert all(shelf.fault("b") for _ in range(5)) and shelf.fault("c") is None


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("quiet/tiny/resolve/main/nothing.bin", "EntryNotFound"),
        ("quiet/tiny/resolve/other/config.json", "RevisionNotFound"),
        ("quiet/other/resolve/main/config.json", "RepoNotFound"),
        ("datasets/quiet/tiny/resolve/main/config.json", "RepoNotFound"),
        ("quiet/tiny/resolve/main/../../../../data/numbers.bin", "EntryNotFound"),
    ],
)
def test_what_the_hub_has_not(served: Path, path: str, code: str) -> None:
    with pytest.raises(Missing) as missing:
        find_file(shelve(served), path)
    assert missing.value.code == code


def test_what_the_hub_says_of_a_repository(served: Path) -> None:
    shelf = shelve(served)
    about = answer_api(shelf, "api/models/quiet/tiny", {})
    assert [one["rfilename"] for one in about["siblings"]] == ["config.json", "extra/words.txt"]
    tree = answer_api(shelf, "api/models/quiet/tiny/tree/main", {"recursive": "true"})
    assert {one["path"]: one["type"] for one in tree} == {
        "config.json": "file",
        "extra": "directory",
        "extra/words.txt": "file",
    }
    flat = answer_api(shelf, f"api/models/quiet/tiny/tree/{about['sha']}", {})
    assert [one["path"] for one in flat] == ["extra", "config.json"]
    asked = answer_api(shelf, "api/models/quiet/tiny/paths-info/main", {"paths": ["extra", "config.json", "no"]})
    assert [one["path"] for one in asked] == ["extra", "config.json"]
    assert answer_api(shelf, "api/models/quiet/tiny/settings", {}) is None and answer_api(shelf, "data", {}) is None
