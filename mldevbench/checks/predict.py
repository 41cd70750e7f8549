"""Predictions by submitted code: inputs without labels, in shuffled shards, some of them asked twice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mldevbench.draw import Draw
from mldevbench.room import Room
from mldevbench.unmet import Unmet

AGREEMENT = 0.95  # of the rows asked twice; float noise between batches may flip a tie


def shards(rng: np.random.Generator, count: int, parts: int = 3) -> list[np.ndarray]:
    """Return the indices 0…count-1 shuffled and cut into shards of random size."""
    order = rng.permutation(count)
    cuts = rng.choice(np.arange(1, count), size=min(parts, count) - 1, replace=False) if count > 1 else []
    return np.split(order, np.sort(np.asarray(cuts, int)))


def predict(
    room: Room,
    probe: Path | str,
    inputs: np.ndarray,
    *,
    draw: Draw,
    seconds: float,
    key: str = "inputs",
    answer: str = "outputs",
    again: float = 0.1,
    extra: Mapping[str, Any] | None = None,
    parts: int = 3,
    tolerance: float = 1e-3,
) -> np.ndarray:
    """Return one answer per input, in order, from processes that saw the inputs in shuffled shards.

    A share of the inputs is sent again in other company to a fresh process: a prediction that depends on its
    neighbours, its place or its time disagrees with itself.
    """
    rng = draw.rng("prediction shards")

    def ask(indices: np.ndarray) -> np.ndarray:
        given = room.call(probe, {key: inputs[indices], **(extra or {})}, seconds)
        return one_per_row(given.get(answer), len(indices), answer)

    pieces = shards(rng, len(inputs), parts)
    made = assemble([(indices, ask(indices)) for indices in pieces], len(inputs))
    if again > 0 and len(inputs):
        size = min(len(inputs), max(8, round(again * len(inputs))))
        sample = rng.permutation(len(inputs))[:size]
        demand_agreement(made[sample], ask(sample), tolerance)
    return made


def one_per_row(value: Any, count: int, answer: str) -> np.ndarray:
    if not isinstance(value, np.ndarray) or value.ndim == 0 or len(value) != count:
        seen = f"shape {value.shape}" if isinstance(value, np.ndarray) else "no array"
        raise Unmet("predictions", f"an array {answer!r} with one row for each of {count} inputs", seen)
    return value


def assemble(pieces: list[tuple[np.ndarray, np.ndarray]], count: int) -> np.ndarray:
    """Put the answers of all shards back in order."""
    first = pieces[0][1]
    made = np.empty((count, *first.shape[1:]), first.dtype)
    for indices, rows in pieces:
        if rows.shape[1:] != first.shape[1:] or rows.dtype != first.dtype:
            seen = f"{first.dtype} {first.shape[1:]} and {rows.dtype} {rows.shape[1:]}"
            raise Unmet("predictions", "rows of one shape and dtype for all inputs", seen)
        made[indices] = rows
    return made


def demand_agreement(once: np.ndarray, twice: np.ndarray, tolerance: float) -> None:
    if once.shape != twice.shape or once.dtype != twice.dtype:
        raise Unmet("predictions", "the same form for the same inputs", f"{once.shape} and then {twice.shape}")
    if once.dtype.kind == "f":
        agree = np.isclose(twice.astype(np.float64), once.astype(np.float64), rtol=tolerance, atol=tolerance)
    else:
        agree = once == twice
    share = float(agree.reshape(len(once), -1).all(axis=1).mean())
    if share < AGREEMENT:
        seen = f"{share:.0%} of {len(once)} inputs got the same answer in another batch"
        raise Unmet("predictions", "answers that depend on their own input alone", seen)
