"""Downloads that break in every way: tried again, resumed, refused; the cache never holds a bad file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from assets.server import Source, source

from mldevbench.assets.declared import Asset
from mldevbench.assets.fetching import Fetcher
from mldevbench.assets.keeping import Keep
from mldevbench.digest import of_bytes
from mldevbench.errors import UserError

CONTENT = bytes(range(256)) * 5000


@pytest.fixture
def served() -> Iterator[Source]:
    with source() as held:
        held.files["/set.tgz"] = CONTENT
        yield held


@pytest.fixture
def keep(tmp_path: Path) -> Keep:
    return Keep(tmp_path / "cache")


def asset(served: Source, sha256: str = of_bytes(CONTENT)) -> Asset:
    return Asset("some_task", "full", "set.tgz", f"{served.url}/set.tgz", len(CONTENT), sha256, "none", "here")


def fetcher(keep: Keep, **more: object) -> Fetcher:
    return Fetcher(keep, sleep=lambda seconds: None, **more)  # type: ignore[arg-type]


def bad_files(keep: Keep) -> list[Path]:
    return [path for path in keep.folder.glob("content/*/*") if of_bytes(path.read_bytes()) != path.name]


def test_fetched_once_and_then_kept(served: Source, keep: Keep) -> None:
    arrived: list[int] = []
    bring = fetcher(keep, progress=lambda asset, size: arrived.append(size))
    assert bring.bring(asset(served)).read_bytes() == CONTENT
    assert bring.bring(asset(served)).read_bytes() == CONTENT
    assert len(served.requests) == 1 and sum(arrived) == len(CONTENT)


def test_500_then_fine(served: Source, keep: Keep) -> None:
    served.trouble = lambda number, path: "500" if number <= 2 else None
    assert fetcher(keep).bring(asset(served)).read_bytes() == CONTENT
    assert len(served.requests) == 3


def test_truncated_then_resumed_where_it_broke(served: Source, keep: Keep) -> None:
    served.trouble = lambda number, path: "cut" if number == 1 else None
    assert fetcher(keep).bring(asset(served)).read_bytes() == CONTENT
    assert [asked for _, asked in served.requests] == [None, f"bytes={len(CONTENT) // 2}-"]


def test_a_server_without_ranges_sends_all_again(served: Source, keep: Keep) -> None:
    served.trouble = lambda number, path: "cut" if number == 1 else "no ranges"
    assert fetcher(keep).bring(asset(served)).read_bytes() == CONTENT


def test_wrong_content_then_right(served: Source, keep: Keep) -> None:
    served.trouble = lambda number, path: "wrong" if number == 1 else None
    assert fetcher(keep).bring(asset(served)).read_bytes() == CONTENT
    assert not bad_files(keep)


@pytest.mark.parametrize(
    ("trouble", "words"), [("wrong", "its SHA-256 is"), ("500", "the server says 500"), ("cut", "bytes came")]
)
def test_what_stays_broken_is_a_clear_error(served: Source, keep: Keep, trouble: str, words: str) -> None:
    served.trouble = lambda number, path: trouble
    with pytest.raises(UserError, match=r"asset set.tgz of some_task .*") as error:
        fetcher(keep).bring(asset(served))
    assert words in str(error.value) and "5 tries" in str(error.value) and "\n" not in str(error.value)
    assert not keep.has(of_bytes(CONTENT), len(CONTENT)) and not bad_files(keep)


def test_a_wrong_digest_in_task_yaml_never_gets_in(served: Source, keep: Keep) -> None:
    with pytest.raises(UserError, match="its SHA-256 is"):
        fetcher(keep).bring(asset(served, "0" * 64))
    assert not list(keep.folder.glob("content/*/*"))


def test_a_lasting_refusal_is_not_asked_again(served: Source, keep: Keep) -> None:
    served.trouble = lambda number, path: "404"
    with pytest.raises(UserError, match="the server says 404"):
        fetcher(keep).bring(asset(served))
    assert len(served.requests) == 1


def test_offline_says_what_to_run(served: Source, keep: Keep) -> None:
    with pytest.raises(UserError, match="mldevbench assets fetch some_task --profile full"):
        fetcher(keep, offline=True).bring(asset(served))
    assert not served.requests


def test_a_file_that_went_bad_is_thrown_away(served: Source, keep: Keep) -> None:
    place = fetcher(keep).bring(asset(served))
    assert keep.right(of_bytes(CONTENT))
    place.chmod(0o644)
    place.write_bytes(CONTENT[:-1] + b"!")
    assert not keep.right(of_bytes(CONTENT)) and not place.exists()


TOGETHER = """
import sys
from pathlib import Path
from mldevbench.assets.declared import Asset
from mldevbench.assets.fetching import Fetcher
from mldevbench.assets.keeping import Keep
url, size, sha256, folder = sys.argv[1:]
asset = Asset("some_task", "full", "set.tgz", url, int(size), sha256, "none", "here")
print(Fetcher(Keep(Path(folder))).bring(asset).stat().st_size)
"""


def test_processes_that_ask_at_once_fetch_once(served: Source, keep: Keep) -> None:
    words = [f"{served.url}/set.tgz", str(len(CONTENT)), of_bytes(CONTENT), str(keep.folder)]
    asking = [
        subprocess.Popen([sys.executable, "-c", TOGETHER, *words], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    assert [one.communicate(timeout=120)[0].strip() for one in asking] == [str(len(CONTENT))] * 3
    assert len(served.requests) == 1
