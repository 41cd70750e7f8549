"""What can't work is refused in one line before anything starts; drivers on one cluster leave each other alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mldevbench.records import Outcome
from mldevbench.store.place import open_place
from mldevbench.store.study_store import StudyStore

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

REFUSED = {
    "gpus": "no node can hold a run of 1 CPUs, 2 GPUs",
    "label": "no node has GPU type or label 'zone=mars'",
    "share": "if that is meant, say --share-gpus",
    "full storage": "MB free; make room or choose another --storage",
    "no rights": "can't be written (storage_error",
    "full scratch": "GB free; make room or choose another with --scratch",
    "agent": "agent 'packed' isn't installed; run 'mldevbench agents install packed' there, or leave out --no-install",
    "relative": "is relative to the job's folder",
    "not shared": "isn't there on node",
    "no sandbox": "sandbox bubblewrap doesn't work there: bwrap is not installed",
}


def test_each_refusal_is_one_clear_line_and_nothing_hangs(
    plugins: Path, tmp_path: Path, clean_environment: None
) -> None:
    if os.geteuid() != 0:
        pytest.skip("namespaces need root here")
    alone = ["unshare", "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
    command = [*alone, sys.executable, str(Path(__file__).parent / "refusals.py"), str(plugins), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=880, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads((tmp_path / "said.json").read_text(encoding="utf-8"))
    for name, words in REFUSED.items():
        lines = [line for line in said[name]["said"].splitlines() if line.startswith("mldevbench: ")]
        assert (said[name]["code"], len(lines)) == (2, 1), (name, said[name])
        assert words in lines[0], name
        assert "Traceback" not in said[name]["said"], name
    again = said["again"]
    assert again["code"] == 2 and "is being run by process" in again["said"] and " s now" in again["said"], again
    for name, count in (("first", 6), ("second", 6), ("bereft", 2), ("late", 30)):
        rows = list(StudyStore(open_place(str(tmp_path / "r" / name))).runs.all())
        assert (said[name]["code"], len(rows)) == (0, count), said[name]
        assert {(row.outcome, row.attempts) for row in rows} == {(Outcome.PASSED, 1)}, name
        assert len({row.node for row in rows}) == 1, "a run was given to the node without a sandbox"
    assert "left out: " in said["late"]["said"], "the node without a sandbox was never asked"
