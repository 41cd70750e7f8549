# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Compare what was fetched and what was reported with what the four addresses really give."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mldevbench.checks import check, equal, metric, read_json, read_text, require
from mldevbench.draw import Draw
from mldevbench.material.outlets import Outlet, draw_outlets
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    outlets = draw_outlets(draw.rng("outlets"), profile["files"], profile["rows"])
    alive = [outlet for outlet in outlets if outlet.alive]
    dead = [outlet for outlet in outlets if not outlet.alive]
    yield from _report(submission, dead)
    yield from _info(submission, alive)
    yield from _files(submission, alive)
    yield metric("addresses that are dead", len(dead))


def _report(submission: Submission, dead: Sequence[Outlet]) -> Iterator[Check]:
    name = "dataset_not_available.txt"
    lines = [line.rstrip() for line in read_text(submission, name, max_kb=16).splitlines() if line.strip()]
    told = {line.split(" ")[0]: line.split(" ")[1:] for line in lines}
    right = {outlet.name for outlet in dead}
    once = len(told) == len(lines)
    yield check(f"names in {name}", once and set(told) == right, "the data sets that can't be had, each once",
                ", ".join(line.split(" ")[0] for line in lines) or "none")  # fmt: skip
    for outlet in dead:
        said = told.get(outlet.name, [])
        yield equal(f"status of {outlet.name}", said[0] if said else None, outlet.fate, show_expected=False)
        yield equal(f"evidence for {outlet.name}", said[1] if len(said) == 2 else None, outlet.evidence, False)


def _info(submission: Submission, alive: Sequence[Outlet]) -> Iterator[Check]:
    name = "dataset_info.json"
    info = read_json(submission, name, max_kb=64)
    yield require(name, isinstance(info, dict), "an object", type(info).__name__)
    names = {outlet.name for outlet in alive}
    yield check(f"names in {name}", set(info) == names, "the data sets that can be had", ", ".join(info) or "none")
    for outlet in alive:
        entry = info.get(outlet.name)
        told = entry if isinstance(entry, dict) else {}
        path = str(told.get("dataset_path")).removeprefix("./").rstrip("/")
        yield equal(f"dataset_path of {outlet.name}", path, f"datasets/{outlet.name}")
        yield equal(f"files of {outlet.name}", told.get("files"), len(outlet.files), False)
        yield equal(f"sha256 of {outlet.name}", told.get("sha256"), outlet.checksum, False)


def _files(submission: Submission, alive: Sequence[Outlet]) -> Iterator[Check]:
    right = {
        f"datasets/{outlet.name}/{name}": hashlib.sha256(content).hexdigest()
        for outlet in alive
        for name, content in outlet.files.items()
    }
    found = {name: entry.sha256 for name, entry in submission.files.items() if name.startswith("datasets/")}
    same = sum(found.get(name) == digest for name, digest in right.items())
    seen = f"{same} unchanged, {len(right.keys() - found.keys())} missing, {len(found.keys() - right.keys())} others"
    yield check("files in datasets", found == right, f"the {len(right)} files of the data sets that can be had", seen)
