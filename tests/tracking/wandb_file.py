"""Reads a `.wandb` file: a short header, then a LevelDB log of protobuf records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HEADER = 7  # ":W&B", a magic number and a version
BLOCK = 32768
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


@dataclass
class Logged:
    """What one W&B run was told."""

    run_id: str = ""
    project: str = ""
    group: str = ""
    name: str = ""
    notes: str = ""
    config: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[Any] = field(default_factory=list)
    ended: bool = False


def chunks(data: bytes) -> Iterator[bytes]:
    """Yield whole records; a cut one at the end is left out."""
    place, parts = HEADER, b""
    while place + 7 <= len(data):
        left = BLOCK - place % BLOCK
        if left < 7:
            place += left
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        if kind == 0 or place + 7 + length > len(data):
            return
        body = data[place + 7 : place + 7 + length]
        parts = body if kind in (FULL, FIRST) else parts + body
        if kind in (FULL, LAST):
            yield parts
        place += 7 + length


def read(path: Path) -> Logged:
    from wandb.proto import wandb_internal_pb2 as proto

    logged = Logged()
    for chunk in chunks(path.read_bytes()):
        record = proto.Record()
        record.ParseFromString(chunk)
        kind = record.WhichOneof("record_type")
        if kind == "run":
            run = record.run
            logged.run_id, logged.project, logged.group = run.run_id, run.project, run.run_group
            logged.name, logged.notes = run.display_name, run.notes
            logged.config |= {item.key: json.loads(item.value_json) for item in run.config.update}
        elif kind == "history":
            items = {"/".join(item.nested_key) or item.key: item.value_json for item in record.history.item}
            logged.history.append({key: json.loads(value) for key, value in items.items()})
        elif kind == "artifact":
            logged.artifacts.append(record.artifact)
        elif kind == "request" and record.request.WhichOneof("request_type") == "log_artifact":
            logged.artifacts.append(record.request.log_artifact.artifact)
        elif kind == "exit":
            logged.ended = True
    return logged


def runs_below(folder: Path) -> list[Logged]:
    return [read(path) for path in sorted(folder.glob("wandb/offline-run-*/*.wandb"))]
