# mldevbench canary 7d1f0c52-3a44-4c1e-9b0e-5d1b6a2f8e17 - keep out of training data
"""Run the modules on other pictures: judge their batches, their steps, and the checkpoints that they train."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from mldevbench import plugin
from mldevbench.checks import Room, at_least, at_most, check, close, equal, metric, number, numeral, require
from mldevbench.draw import Draw
from mldevbench.material.shapes import Pictures, draw_pictures
from mldevbench.records import Check, Metric
from mldevbench.submission import Submission

HERE = Path(__file__).parent
HIDDEN, GIVEN = HERE / "hidden", HERE / "workspace"
MODULES = ("shapes_classifier/model.py", "shapes_classifier/data.py")
PRISTINE = ("train.py", "trainloop/__init__.py", "trainloop/base.py", "trainloop/trainer.py")
COLUMNS = ("epoch", "train_loss", "val_loss", "val_accuracy")


def validate(submission: Submission, draw: Draw, profile: Mapping[str, Any]) -> Iterator[Check | Metric]:
    for name in MODULES:
        yield require(name, submission.has(name), f"a file {name}", "none")
    reference, rng = plugin.load(HIDDEN / "reference.py"), draw.rng("held-out pictures")
    drawn, names = draw_pictures(rng, profile["others"]), rng.permutation(10)
    pictures = Pictures(drawn.images, names[drawn.labels])
    weights, batch = reference.draw_weights(rng), draw_pictures(rng, int(rng.integers(20, 40)))
    inputs: dict[str, Any] = {
        "epochs": profile["epochs"],
        "labels": batch.labels,
        "pictures": reference.plain(batch.images),
    }
    inputs |= {f"weight {name}": value for name, value in weights.items()}
    with Room(submission, files=["shapes_classifier/**"], add=_files(pictures)) as room:
        answers = room.call(HIDDEN / "probe.py", inputs, seconds=profile["seconds"])
    yield equal("bases", answers.get("bases"), [True, True])
    cut = int(profile["others"] * 0.8)
    yield from _training_batches(reference, answers, pictures, cut)
    yield from _validation_batches(reference, answers, pictures, cut)
    yield from _steps(reference, answers, weights, inputs, profile["tolerance"])
    rest = Pictures(pictures.images[cut:], pictures.labels[cut:])
    yield from _epochs(reference, answers, rest, profile)


def _files(pictures: Pictures) -> dict[str, bytes | Path]:
    files: dict[str, bytes | Path] = {name: GIVEN / name for name in PRISTINE}
    for name, array in (("images", pictures.images), ("labels", pictures.labels.astype(np.int32))):
        buffer = io.BytesIO()
        np.save(buffer, array)
        files[f"other/{name}.npy"] = buffer.getvalue()
    return files


def _array(answers: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> np.ndarray:
    seen: Any = answers.get(name)
    fits = isinstance(seen, np.ndarray) and seen.shape == shape and seen.dtype.kind in "fi"
    require(name, fits, f"numbers of shape {shape}", f"{getattr(seen, 'shape', type(seen).__name__)}")
    require(name, bool(np.isfinite(seen).all()), "finite values", "NaN or infinity")
    return np.asarray(seen)


def _training_batches(reference: Any, answers: Mapping[str, Any], pictures: Pictures, cut: int) -> Iterator[Check]:
    known = reference.versions(pictures.images[:cut])
    changes, orders = [], []
    for passed in range(2):
        seen = _array(answers, f"train pictures {passed}", (cut, *pictures.images.shape[1:]))
        labels = _array(answers, f"train labels {passed}", (cut,))
        raw = reference.as_bytes(seen)
        yield require("training pictures", raw is not None, "bytes / 255, less 0.5, divided by 0.25", "other values")
        found = [known.get(picture.tobytes()) for picture in ([] if raw is None else raw)]
        strange = sum(one is None for one in found)
        yield require("augmentation", not strange, "flips and shifts as told", f"{strange} pictures are something else")
        places = np.asarray([one[0] for one in found if one])
        yield equal("training pictures, each once", np.sort(places), np.arange(cut), show_expected=False)
        yield equal("training labels", labels.astype(np.int64), pictures.labels[places], show_expected=False)
        change = np.zeros((cut, 3), int)
        change[places] = [one[1] for one in found if one]
        changes.append(change)
        orders.append(places)
    both = np.concatenate(changes)
    yield at_least("share of flipped training pictures", float(both[:, 0].mean()), 0.4)
    yield at_most("share of flipped training pictures, at most", float(both[:, 0].mean()), 0.6)
    rare = min(float((both[:, axis] == shift).mean()) for axis in (1, 2) for shift in range(-2, 3))
    yield at_least("share of the rarest shift", rare, 0.1)
    again = float((changes[0] == changes[1]).all(axis=1).mean())
    yield at_most("share of pictures that come unchanged in the next pass", again, 0.15)
    mixed = float((orders[0] == orders[1]).mean()) < 0.2 and float((orders[0] == np.arange(cut)).mean()) < 0.2
    yield check("order of the training pictures", mixed, "another one in each pass", "new" if mixed else "the same")


def _validation_batches(reference: Any, answers: Mapping[str, Any], pictures: Pictures, cut: int) -> Iterator[Check]:
    right = {picture.tobytes(): place for place, picture in enumerate(pictures.images[cut:], start=cut)}
    count = len(right)
    for passed in range(2):
        seen = _array(answers, f"val pictures {passed}", (count, *pictures.images.shape[1:]))
        labels = _array(answers, f"val labels {passed}", (count,))
        raw = reference.as_bytes(seen)
        places = np.asarray([right.get(picture.tobytes(), -1) for picture in ([] if raw is None else raw)])
        yield equal("validation pictures, plain", np.sort(places), np.arange(cut, cut + count), show_expected=False)
        yield equal("validation labels", labels.astype(np.int64), pictures.labels[places], show_expected=False)


def _steps(
    reference: Any,
    answers: Mapping[str, Any],
    weights: Mapping[str, np.ndarray],
    inputs: Mapping[str, Any],
    most: float,
) -> Iterator[Check]:
    """Compare single steps on given weights, with running and with batch statistics."""
    yield equal("tensors of the model", answers.get("names"), sorted(weights))
    pixels, labels = torch.from_numpy(inputs["pictures"]), torch.from_numpy(inputs["labels"])
    for mode in ("eval", "train"):
        held = {name: torch.from_numpy(value.copy()) for name, value in weights.items()}
        wanted = [held[name].requires_grad_() for name in ("head.weight", "conv1.weight")]
        scores = reference.scores(held, pixels, mode == "train")
        loss = functional.cross_entropy(scores, labels)
        slopes = [slope.numpy() for slope in torch.autograd.grad(loss, wanted)]
        told = number(answers.get(f"{mode} loss"), f"loss, {mode}")
        yield at_most(
            f"relative error of the loss, {mode}", abs(told - float(loss.detach())) / float(loss.detach()), most
        )
        pairs = {"scores": scores.detach().numpy(), "gradient": slopes[0], "first gradient": slopes[1]}
        for name, right in pairs.items():
            seen = _array(answers, f"{mode} {name}", right.shape)
            scale = float(np.abs(right).max())
            yield close(f"{name}, {mode}", seen / scale, right / scale, tolerance=most)
        if mode == "eval":
            yield from _validation_step(answers.get("validation"), scores.detach(), labels, most)


def _validation_step(told: Any, scores: torch.Tensor, labels: torch.Tensor, most: float) -> Iterator[Check]:
    yield require("validation_step", isinstance(told, dict), "val_loss and val_accuracy", type(told).__name__)
    loss, accuracy = _measured(scores, labels)
    given = {name: number(told.get(name), name) for name in ("val_loss", "val_accuracy")}
    yield at_most("relative error of val_loss, one batch", abs(given["val_loss"] - loss) / loss, most)
    yield at_most("error of val_accuracy, one batch", abs(given["val_accuracy"] - accuracy), 1.01 / len(labels))


def _measured(scores: torch.Tensor, labels: torch.Tensor) -> tuple[float, float]:
    loss = float(functional.cross_entropy(scores, labels))
    return loss, float((scores.argmax(1) == labels).double().mean())


def _epochs(
    reference: Any, answers: Mapping[str, Any], rest: Pictures, profile: Mapping[str, Any]
) -> Iterator[Check | Metric]:
    """Recompute what metrics.csv says of each epoch from its checkpoint."""
    rows = _rows(answers.get("metrics"), profile["epochs"])
    pixels, labels = torch.from_numpy(reference.plain(rest.images)), torch.from_numpy(rest.labels)
    earlier, accuracy = None, 0.0
    for epoch, row in enumerate(rows):
        held = {name: _array(answers, f"epoch {epoch} {name}", shape) for name, shape in reference.SHAPES.items()}
        with torch.no_grad():
            scores = reference.scores({name: torch.from_numpy(np.array(value)) for name, value in held.items()}, pixels)
        loss, accuracy = _measured(scores, labels)
        yield at_most(f"relative error of val_loss, epoch {epoch}", abs(row["val_loss"] - loss) / loss, 0.003)
        told, pictures = row["val_accuracy"] * len(labels), accuracy * len(labels)
        whole = abs(told - round(told)) < 0.02 and abs(told - pictures) < 1.02
        yield check(
            f"val_accuracy, epoch {epoch}", whole, "that of the weights", f"{told:.2f} and {pictures:.2f} pictures"
        )
        moved = earlier is None or float(np.abs(held["conv1.weight"] - earlier).max()) > 1e-5
        yield check(f"weights, epoch {epoch}", moved, "others than before", "new" if moved else "the same")
        earlier = held["conv1.weight"]
    losses = [row["train_loss"] for row in rows]
    yield check("train_loss", losses[-1] < losses[0], "a fall", f"{losses[0]:.4g} to {losses[-1]:.4g}")
    yield metric("val_accuracy", accuracy)


def _rows(text: Any, epochs: int) -> list[dict[str, float]]:
    rows = list(csv.DictReader(io.StringIO(text[:10_000]))) if isinstance(text, str) else []
    require("metrics.csv", len(rows) == epochs, f"{epochs} rows", f"{len(rows)}")
    found = [{name: numeral(row.get(name), name, 0) for name in COLUMNS} for row in rows]
    require("epoch", [row["epoch"] for row in found] == list(range(epochs)), "epochs from 0 on", str(found)[:100])
    return found
