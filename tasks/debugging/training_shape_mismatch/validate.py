# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Train again on other digits; load the weights into the given network outside and recompute what was reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from mldevbench import plugin
from mldevbench.checks import Room, at_least, at_most, check, equal, metric, number, require
from mldevbench.draw import Draw
from mldevbench.material.digit_set import other_set
from mldevbench.material.idx import Split
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
SCRIPT, NETWORK = "train.py", HERE / "workspace" / "network.py"
FIELDS = {"train_loss": None, "val_loss": None, "train_acc": 100.0, "val_acc": 100.0}
LOSS_TOLERANCE, MISLABELLED = 0.001, 9


class Measured(NamedTuple):
    loss: float
    accuracy: float  # per cent


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    yield require(SCRIPT, submission.has(SCRIPT), f"a file {SCRIPT}", "none")
    rng = draw.rng("held-out digits")
    # Never a multiple of the given batch size: a last batch that is dropped must show.
    smaller = profile["test"] // 20 * 20 - 20 * int(rng.integers(1, 3)) + int(rng.integers(9, 19))
    digits, held_out = other_set(rng, {**profile, "test": smaller})
    # The last ones are wrong for every network: without them both score and loss are others, and no score is 100.
    ending = digits.test.labels[-MISLABELLED:]
    ending[:] = (ending + rng.integers(1, 10, MISLABELLED)) % 10
    files: dict[str, bytes | Path] = {f"other/{name}": content for name, content in digits.files().items()}
    with Room(submission, files=[SCRIPT], add={**files, "network.py": NETWORK}) as room:
        inputs = {"epochs": profile["epochs"]}
        answers = room.call(HERE / "hidden" / "probe.py", inputs, seconds=profile["seconds"])
    metrics = answers.get("written")
    yield require("train_metrics.json", isinstance(metrics, dict), "an object", type(metrics).__name__)
    yield equal("returned metrics", answers.get("returned"), metrics)
    history, best = _history(metrics, profile["epochs"])
    last, kept = _measure(answers, "last", digits.test), _measure(answers, "best", digits.test)
    pictures = len(digits.test.labels)
    yield _agrees("last val_acc", history[-1]["val_acc"], last.accuracy, pictures)
    yield at_most("error of the last val_loss", abs(history[-1]["val_loss"] - last.loss) / last.loss, LOSS_TOLERANCE)
    highest = max(row["val_acc"] for row in history)
    yield check("best_val_acc", best == highest, f"the highest val_acc, {highest:g}", f"{best:g}")
    yield _agrees("best_val_acc of the kept weights", best, kept.accuracy, pictures)
    unseen = _measure(answers, "best", held_out)
    yield at_least("accuracy on unseen digits", unseen.accuracy / 100, profile["min_accuracy"])
    yield metric("accuracy", unseen.accuracy / 100)


def _agrees(name: str, told: float, found: float, pictures: int) -> Check:
    """Compare as numbers of pictures: whole ones, of which rounding may turn one."""
    told_right, found_right = told * pictures / 100, found * pictures / 100
    passed = abs(told_right - round(told_right)) < 0.02 and abs(told_right - found_right) < 1.02
    return check(name, passed, "that of the weights, to within one picture", f"told {told:.3f}, found {found:.3f}")


def _history(metrics: Any, epochs: int) -> tuple[list[dict[str, float]], float]:
    """Return the rows of the history and the best accuracy, having refused what can't be."""
    rows = metrics.get("history")
    fits = isinstance(rows, list) and len(rows) == epochs and all(isinstance(row, dict) for row in rows)
    require("history", fits, f"a list of {epochs} objects", str(rows)[:200])
    for position, row in enumerate(rows, start=1):
        require("epoch", row.get("epoch") == position, f"epoch {position}", str(row.get("epoch"))[:50])
    found = [{name: number(row.get(name), name, 0, high) for name, high in FIELDS.items()} for row in rows]
    return found, number(metrics.get("best_val_acc"), "best_val_acc", 0, 100)


def _measure(answers: Mapping[str, Any], which: str, split: Split) -> Measured:
    """Load one set of weights into the given network and measure it on a split."""
    network = plugin.load(NETWORK).MobileNet()
    weights: dict[str, Any] = {}
    for name, right in network.state_dict().items():
        if name.endswith("num_batches_tracked"):  # a counter that no score depends on
            continue
        seen: Any = answers.get(f"{which} {name}")
        weights[name] = seen
        fits = isinstance(seen, np.ndarray) and seen.shape == right.shape and seen.dtype.kind in "fi"
        shape = f"{getattr(seen, 'shape', type(seen).__name__)}"
        require(f"weights, {which}", fits, f"{name} of shape {tuple(right.shape)}", shape)
        require(f"weights, {which}", bool(np.isfinite(seen).all()), f"{name} finite", "NaN or infinity")
    tensors = {name: torch.from_numpy(np.array(value)) for name, value in weights.items()}
    network.load_state_dict(tensors, strict=False)
    network.eval()
    labels = torch.from_numpy(split.labels.astype(np.int64))
    with torch.no_grad():
        scores = torch.cat([network(part) for part in _prepared(split).split(200)])
    loss = float(functional.cross_entropy(scores, labels))
    return Measured(loss, 100 * float((scores.argmax(1) == labels).double().mean()))


def _prepared(split: Split) -> torch.Tensor:
    """Return the pictures as the network must see them."""
    grey = torch.from_numpy(split.images.astype(np.float32))[:, None] / 255
    grey = functional.interpolate(grey, size=(32, 32), mode="bilinear", align_corners=False)
    return ((grey - 0.1307) / 0.3081).repeat(1, 3, 1, 1)
