# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Read the run's own file in a room; compare its rows with what must have been measured, and both reports with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mldevbench import plugin
from mldevbench.checks import Room, at_most, check, close, equal, number, read_json, require
from mldevbench.draw import Draw
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
INFO, METRICS = "wandb_info.json", "wandb_metrics.json"
PROJECT, TAGS = "ml_workflow_test_wandb", ["evaluation", "test"]
LOSSES = ("training_loss", "validation_loss")


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    settings = plugin.load(HERE / "data.py").settings(draw, profile)
    info = _object(INFO, read_json(submission, INFO))
    reported = _object(METRICS, read_json(submission, METRICS))
    run, rows, exits = _told(submission, info.get("run_file"))
    yield equal("project of the run", run["project"], PROJECT)
    yield equal("tags of the run", sorted(run["tags"]), TAGS)
    yield from _name(run, settings["prefix"], profile["minutes"])
    for name in ("epochs", "learning_rate"):
        yield equal(f"{name} in the run's config", run["config"].get(name), settings[name])
    yield check("end of the run", exits == [0], "finished, exit code 0", f"exit codes {exits}"[:100])
    for name, right in (("run_id", run["run_id"]), ("project", PROJECT), ("run_name", run["name"])):
        yield equal(f"{name} in {INFO}", info.get(name), right)
    yield from _rows(rows, settings, run["run_id"])
    yield from _read_back(reported, rows[-1])


def _told(submission: Submission, path: Any) -> tuple[dict[str, Any], list[dict[str, Any]], list[Any]]:
    """Return what the file of the run says, in the form that is relied on below."""
    require("run_file", isinstance(path, str) and submission.has(path), "the path of a run's file", str(path)[:200])
    with Room(submission, files=[path]) as room:
        told = room.call(HERE / "hidden" / "probe.py", {"path": path}, seconds=60).get("told")
    told = _object("file of the run", told)
    runs, rows, exits = (told.get(name) for name in ("runs", "rows", "exits"))
    fits = all(isinstance(part, list) for part in (runs, rows, exits))
    require("file of the run", fits and bool(runs), "a run", "none")
    run = _one([_well_formed(one) for one in runs or []])
    require("rows of the run", bool(rows), "rows that were logged", "none")
    return run, [_object("row", row) for row in rows or []], exits or []


def _well_formed(told: Any) -> dict[str, Any]:
    run = _object("run", told)
    names = all(isinstance(run.get(name), str) for name in ("run_id", "project", "name"))
    tags = isinstance(run.get("tags"), list) and all(isinstance(tag, str) for tag in run["tags"])
    require("run", names and tags and isinstance(run.get("config"), dict), "names, tags and a config", str(run)[:300])
    return run


def _one(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the run as it was at last: the client records it again when its name or tags change."""
    ids = {run["run_id"] for run in runs}
    require("file of the run", len(ids) == 1, "one run", f"{len(ids)} runs")
    config = {name: value for run in runs for name, value in run["config"].items()}
    return runs[-1] | {"config": config, "started": runs[0].get("started")}


def _object(name: str, value: Any) -> dict[str, Any]:
    require(name, isinstance(value, dict), "an object", type(value).__name__)
    return value


def _name(run: Mapping[str, Any], prefix: str, minutes: float) -> Iterator[Check]:
    name, form = run["name"], f"{prefix}-YYYYMMDD-HHMMSS"
    try:
        made = datetime.strptime(name.removeprefix(f"{prefix}-"), "%Y%m%d-%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        made = None
    right = made is not None and name.startswith(f"{prefix}-")
    yield require("name of the run", right, form, name[:100])
    late = number(run.get("started"), "start of the run") - (made or 0)
    yield check(
        "time in the name", -60 <= late <= 60 * minutes, "the time when the run was made", f"{late:.0f} s before"
    )


def _rows(rows: list[dict[str, Any]], settings: Mapping[str, Any], run_id: str) -> Iterator[Check]:
    """Compare each row with the measurement of its epoch in this very run."""
    values = plugin.load(HERE / "workspace" / "measurement.py").values
    yield require("rows of the run", len(rows) == settings["epochs"], f"{settings['epochs']} rows", f"{len(rows)}")
    own = [{name for name in row if not name.startswith("_")} for row in rows]
    wanted = {*LOSSES, "epoch"}
    yield require("fields of the rows", all(names == wanted for names in own), str(sorted(wanted)), str(own[0])[:200])
    yield equal("epochs of the rows", [row["epoch"] for row in rows], list(range(len(rows))))
    right = [values(settings["key"], run_id, epoch) for epoch in range(len(rows))]
    for place, name in enumerate(LOSSES):
        seen = [number(row[name], name) for row in rows]
        yield close(f"{name} of the rows", seen, [pair[place] for pair in right], tolerance=1e-7)


def _read_back(reported: Mapping[str, Any], row: Mapping[str, Any]) -> Iterator[Check]:
    for name in LOSSES:
        yield close(f"{name} in {METRICS}", number(reported.get(name), name), row[name], tolerance=1e-7)
    for name in ("epoch", "_step"):
        yield equal(f"{name} in {METRICS}", reported.get(name), row.get(name))
    gap = number(reported.get("_timestamp"), "_timestamp") - number(row.get("_timestamp"), "_timestamp of the run")
    yield at_most(f"error of _timestamp in {METRICS}", abs(gap), 0.001)
