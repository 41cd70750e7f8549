# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train again on files drawn after submission; judge by predictions for unseen loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mldevbench.checks import Room, at_most, check, metric, require
from mldevbench.draw import Draw
from mldevbench.material.readings import Law, Values, draw_file, draw_law, draw_loads
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

PROBE = Path(__file__).parent / "hidden" / "probe.py"
REACHES = {"small loads": (50, 100), "large loads": (2500, 5000)}
UNSEEN = 400
MAX_LOSS_DIFFERENCE = 0.01


class Case(NamedTuple):
    """One file to train on, and what is asked of it."""

    name: str
    law: Law
    file: bytes
    loads: Values
    costs: Values
    unseen: Values
    parts: list[Values]  # the unseen loads again, as predict gets them
    early: int  # after so many epochs the loss is recomputed, too


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require("train.py", submission.has("train.py"), "a file train.py", "none")
    cases = [_case(draw.rng(f"held-out {name}"), name, profile) for name in REACHES]
    files = {f"file_{position}.csv": case.file for position, case in enumerate(cases)}
    inputs: dict[str, Any] = {"epochs": profile["epochs"], "early": [case.early for case in cases]}
    for position, case in enumerate(cases):
        inputs[f"loads {position}"] = case.loads
        inputs |= {f"unseen {position} {part}": values for part, values in enumerate(case.parts)}
    with Room(submission, files=["train.py"], add=files) as room:
        answers = room.call(PROBE, inputs, seconds=profile["seconds"])
    for position, case in enumerate(cases):
        yield from _judge(position, case, answers, profile)


def _case(rng: np.random.Generator, name: str, profile: Mapping[str, Any]) -> Case:
    law = draw_law(rng, *REACHES[name])
    file, loads, costs = draw_file(rng, law, profile["rows"])
    unseen = np.sort(draw_loads(rng, law, UNSEEN))
    # One alone, neighbours together, the rest: a model that scales by the batch it sees gives itself away.
    parts = [unseen[:1], unseen[1:40], unseen[40:60], unseen[60:]]
    return Case(name, law, file, loads, costs, unseen, parts, int(rng.integers(1, 5)))


def _judge(
    position: int, case: Case, answers: Mapping[str, Any], profile: Mapping[str, Any]
) -> Iterator[Check | Metric]:
    losses = _floats(answers.get(f"losses {position}"), profile["epochs"], f"losses, {case.name}")
    falls = bool(losses[-1] < losses[0])
    yield check(f"fall, {case.name}", falls, "the last loss below the first", f"{losses[0]:.6g} to {losses[-1]:.6g}")
    for epochs, kind in ((profile["epochs"], "last"), (case.early, "early")):
        found = _floats(answers.get(f"{kind} fitted {position}"), len(case.loads), f"predictions, {case.name}")
        yield _agrees(f"{kind} loss, {case.name}", float(losses[epochs - 1]), _mean_square(found - case.costs))
    unseen = np.concatenate(
        [
            _floats(answers.get(f"predicted {position} {part}"), len(loads), f"predictions, {case.name}")
            for part, loads in enumerate(case.parts)
        ]
    )
    truth = case.law(case.unseen)
    error = _mean_square(unseen - truth) / float(np.var(truth))
    yield at_most(f"error on unseen loads, {case.name}", error, profile["max_error"])
    if np.isfinite(error):
        yield metric(f"error, {case.name}", error)


def _floats(seen: Any, count: int, name: str) -> Values:
    """Take an array of so many finite numbers from an answer."""
    fits = isinstance(seen, np.ndarray) and seen.shape == (count,) and seen.dtype.kind == "f"
    require(
        name, fits, f"{count} floats", f"{getattr(seen, 'dtype', type(seen).__name__)} {getattr(seen, 'shape', '')}"
    )
    require(name, bool(np.isfinite(seen).all()), "finite numbers", "NaN or infinity")
    return np.asarray(seen, dtype=np.float64)


def _mean_square(gaps: Values) -> float:
    with np.errstate(over="ignore"):  # infinity fails like any large number
        return float(np.mean(gaps**2))


def _agrees(name: str, told: float, found: float) -> Check:
    passed = bool(np.isfinite(found)) and abs(told - found) <= MAX_LOSS_DIFFERENCE * max(told, found)
    return check(
        name, passed, "the mean squared error of the predictions, within 1 %", f"told {told:.6g}, found {found:.6g}"
    )
