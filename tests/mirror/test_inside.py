"""The mirror from inside a sandbox, with the clients that agents use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mirror.opened import Open

CLIENT = """
import json
from huggingface_hub import hf_hub_download, snapshot_download
from huggingface_hub.errors import EntryNotFoundError, RepositoryNotFoundError
folder = snapshot_download("quiet/tiny", local_dir="model")
other = lambda: snapshot_download("google-bert/bert-base-uncased")
for act in (other, lambda: hf_hub_download("quiet/tiny", "no.bin")):
    try:
        act()
    except (EntryNotFoundError, RepositoryNotFoundError) as error:
        print(type(error).__name__)
print(json.load(open("model/config.json"))["hidden_size"], open("model/extra/words.txt").read())
"""

READER = """
from datasets import load_dataset
rows = load_dataset("quiet/rows")
print({name: len(part) for name, part in rows.items()}, rows["test"][1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["bubblewrap", "process"])
def test_the_real_client_downloads_a_model_and_nothing_else(
    open_mirror: Open, tmp_path: Path, task_venv: Path, isolation: str
) -> None:
    opened = open_mirror(isolation=isolation, venv=task_venv)
    (tmp_path / "workspace" / "client.py").write_text(CLIENT, encoding="utf-8")
    said = opened.run("python client.py")
    assert said.endswith("8 one two\n[0]") and said.count("NotFoundError") == 2, said
    refused = {line["path"] for line in opened.log() if line["status"] == 404}
    assert "/api/models/google-bert/bert-base-uncased/revision/main" in refused
    assert "/quiet/tiny/resolve/main/no.bin" in refused


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_real_client_loads_a_data_set(open_mirror: Open, served: Path, tmp_path: Path, task_venv: Path) -> None:
    place = served / "hub" / "datasets" / "quiet" / "rows"
    place.mkdir(parents=True)
    for part, count in (("train", 5), ("test", 3)):
        lines = [f"{number},{number * number}" for number in range(count)]
        (place / f"{part}.csv").write_text("\n".join(["a,b", *lines, ""]), encoding="utf-8")
    opened = open_mirror(isolation="bubblewrap", venv=task_venv)
    (tmp_path / "workspace" / "reader.py").write_text(READER, encoding="utf-8")
    said = opened.run("python reader.py", seconds=500)  # the client is slow to start on a busy machine
    assert said.endswith("{'train': 5, 'test': 3} {'a': 1, 'b': 1}\n[0]"), said


def test_the_address_is_the_same_for_every_run_and_the_only_one(open_mirror: Open) -> None:
    opened = open_mirror(isolation="bubblewrap")
    assert opened.mirror.url == "http://127.0.0.1:8181"
    assert opened.run('curl -s "$MIRROR_URL/data/numbers.bin" | wc -c') == "102400\n[0]"
    for elsewhere in ("http://1.1.1.1/", "http://127.0.0.1:80/", "http://[::1]:8181/"):
        assert opened.run(f"curl -s -m 20 '{elsewhere}'") in ("[7]", "[28]")


def test_who_ends_every_process_inside_keeps_the_mirror(open_mirror: Open) -> None:
    opened = open_mirror(isolation="bubblewrap")
    opened.run("kill -9 -1")
    assert opened.run('curl -s "$MIRROR_URL/data/numbers.bin" | wc -c') == "102400\n[0]"


def test_a_log_that_an_inmate_can_not_grow_for_ever(open_mirror: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mldevbench.mirror.log.MOST_LINES", 3)
    opened = open_mirror(isolation="bubblewrap")
    opened.run('for n in 1 2 3 4 5 6; do curl -s "$MIRROR_URL/$n"; done')
    assert [json.dumps(line["path"]) for line in opened.log()] == ['"/1"', '"/2"', '"/3"']
