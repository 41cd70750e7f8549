"""Logs of long trainings, with recovered crashes, repeated epochs and other things that mislead a hasty reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from mldevbench.material.log_line import Clock, epoch_line, remark, step_lines, traceback_of, trouble

FINISHED, STOPPED_EARLY, CRASHED = "finished", "stopped early", "crashed"


class Ending(NamedTuple):
    """How a training ended; what a right analysis says."""

    status: str
    last_epoch: int
    loss: float
    accuracy: float
    error: str | None


class TrainingLog(NamedTuple):
    text: str
    ending: Ending


class Leg(NamedTuple):
    """A stretch of epochs between two starts of the process."""

    first: int
    last: int


def draw_log(rng: np.random.Generator, profile: Mapping[str, Any]) -> TrainingLog:
    """Draw a log; two in five trainings end well."""
    total = int(rng.integers(*profile["epochs"]))
    fate = str(rng.choice([FINISHED, STOPPED_EARLY, CRASHED], p=[0.2, 0.2, 0.6]))
    legs = _legs(rng, total, fate)
    clock, order = Clock(rng), _field_order(rng)
    lines = [clock.stamp("INFO", f"training for {total} epochs, seed {rng.integers(10_000)}")]
    last: tuple[int, np.ndarray] = (0, np.zeros(4))
    for number, leg in enumerate(legs):
        epochs = np.arange(leg.first, leg.last + 1)
        for epoch, metrics in zip(epochs.tolist(), _metrics(rng, epochs / total), strict=True):
            last = (epoch, metrics)
            lines += remark(rng, clock, epoch)
            lines.append(clock.stamp("INFO", epoch_line(epoch, total, metrics, order)))
        if number < len(legs) - 1:
            lines += _recovery(rng, clock, leg.last, legs[number + 1].first)
    error = trouble(rng) if fate == CRASHED else None
    lines += _end(rng, clock, (last[0], total), fate, error)
    loss, accuracy = (float(f"{value:.5f}") for value in last[1][:2])
    ending = Ending("failed" if error else "success", last[0], loss, accuracy, error)
    return TrainingLog("\n".join(lines) + "\n", ending)


def _legs(rng: np.random.Generator, total: int, fate: str) -> list[Leg]:
    """Return stretches of epochs; the last one sets out before the furthest epoch and passes it only to finish."""
    furthest = total if fate == FINISHED else int(total * rng.uniform(0.6, 0.95))
    reached = np.sort(rng.uniform(0.1, 0.9, int(rng.integers(2, 5))) * furthest).astype(int)
    legs, start = [], 1
    for end in [*reached.tolist(), furthest]:
        legs.append(Leg(start, end))
        start = max(1, end - int(rng.integers(20, 60)))
    final = total if fate == FINISHED else int(rng.integers(start, furthest - 5))
    return [*legs, Leg(start, final)]


def _field_order(rng: np.random.Generator) -> list[int]:
    """Return an order of loss, accuracy and their validation twins in which at least one twin comes first."""
    while True:
        order = rng.permutation(4).tolist()
        if order.index(2) < order.index(0) and order.index(3) < order.index(1):
            return order


def _metrics(rng: np.random.Generator, shares: np.ndarray) -> np.ndarray:
    """Return loss, accuracy, validation loss and validation accuracy for each share of the training done."""
    loss, accuracy = 0.12 + 2.1 * np.exp(-4 * shares), 0.96 - 0.8 * np.exp(-4 * shares)
    wanted = np.stack([loss, accuracy, loss * 1.15, accuracy - 0.03], axis=1)
    return np.clip(wanted + rng.normal(0, 0.015, wanted.shape), 0.00001, (9, 0.99999, 9, 0.99999))


def _recovery(rng: np.random.Generator, clock: Clock, epoch: int, start: int) -> list[str]:
    error = trouble(rng)
    return [
        *step_lines(rng, clock, epoch + 1),
        clock.stamp("ERROR", "exception in the training loop"),
        *traceback_of(rng, error),
        clock.stamp("WARNING", f"recovered: restoring the checkpoint of epoch {start - 1} and going on"),
    ]


def _end(rng: np.random.Generator, clock: Clock, reached: tuple[int, int], fate: str, error: str | None) -> list[str]:
    epoch, total = reached
    lines: list[str] = []
    if error is not None:
        lines += [*step_lines(rng, clock, epoch + 1), clock.stamp("ERROR", "exception in the training loop")]
        lines += [*traceback_of(rng, error), clock.stamp("ERROR", "no attempt left: giving up")]
    elif fate == STOPPED_EARLY:
        lines.append(
            clock.stamp("INFO", f"early stopping: val_loss has not improved for {rng.integers(20, 90)} epochs")
        )
    else:
        lines.append(clock.stamp("INFO", f"all {total} epochs done"))
    best = _metrics(rng, np.ones(1))[0]
    lines.append(clock.stamp("INFO", f"best checkpoint: epoch={epoch - 9} loss={best[0]:.5f} accuracy={best[1]:.5f}"))
    lines.append(clock.stamp("WARNING", "uploading the log failed; it stays here"))
    lines += traceback_of(rng, f"ConnectionError: no route to the log server (attempt {rng.integers(2, 9)})")
    return [*lines, clock.stamp("INFO", f"process {rng.integers(1000, 30000)} ends with exit code {int(bool(error))}")]
