"""Places: files appear whole, on a disk and in an object store alike."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mldevbench.errors import Fault, UserError
from mldevbench.store.place import Place, check_writable, open_place
from mldevbench.store.salt import read_salt


def memory_place() -> Place:
    """A filesystem without renames, as object stores are."""
    from pyarrow import fs

    return Place(fs._MockFileSystem(), "bucket/studies", "mock://bucket/studies", "bucket/studies")


@pytest.fixture(params=["local", "object"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "local":
        return open_place(str(tmp_path / "results"))
    made = memory_place()
    made.filesystem.create_dir("bucket/studies/a/b")
    return made


def test_what_is_written_can_be_read(place: Place, tmp_path: Path) -> None:
    place.write("a/b/file", b"one")
    place.write("a/b/file", b"two")
    assert place.read("a/b/file") == b"two" and place.has("a/b/file") and not place.has("a/b/other")
    assert place.names("a/b") == ["file"]
    place.bring("a/b/file", tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"two"
    place.remove("a/b/file")
    place.remove("a/b/file")
    assert not place.has("a/b/file")


def test_a_large_file_is_brought_in_whole(place: Place, tmp_path: Path) -> None:
    content = bytes(range(256)) * 20_000
    (tmp_path / "big").write_bytes(content)
    place.take("a/b/big", tmp_path / "big")
    assert place.read("a/b/big") == content


def test_no_names_in_a_folder_that_is_not_there(place: Place) -> None:
    assert place.names("nowhere") == []


def test_nothing_half_written_is_ever_in_the_way_of_a_glob(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    place.write("runs/part-00000.parquet", b"x")
    assert [path.name for path in tmp_path.glob("runs/*")] == ["part-00000.parquet"]


def test_a_storage_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="choose another with --storage"):
        check_writable(open_place(str(tmp_path / "file" / "below")))


def test_many_may_ask_at_once_whether_a_storage_can_be_written(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(20):
                check_writable(open_place(str(tmp_path / "r")))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_an_unknown_kind_of_url_is_refused() -> None:
    with pytest.raises(UserError, match="can't be opened"):
        open_place("gopher://somewhere")


def test_an_error_of_the_storage_is_named_as_such(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    (tmp_path / "taken").write_text("", encoding="utf-8")
    with pytest.raises(Fault, match="storage_error"):
        place.write("taken/below", b"")


def test_a_salt_is_made_once_and_is_secret(tmp_path: Path) -> None:
    place = open_place(str(tmp_path))
    salt = read_salt(place)
    assert len(salt) == 32 and read_salt(place) == salt
    assert (tmp_path / ".salt").stat().st_mode & 0o077 == 0
