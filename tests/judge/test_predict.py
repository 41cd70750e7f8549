"""Predictions without a sandbox: how answers are put together, and which ones are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import pytest

from mldevbench.checks import Room, Unmet, predict, shards
from mldevbench.draw import Draw

DRAW = Draw(b"a key for tests")
INPUTS = np.arange(50.0)
Answer = Callable[[np.ndarray, int], Any]


class Answering:
    """Stands for a room: answers the n-th call as it is told to."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[np.ndarray] = []

    def call(self, probe: str, inputs: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        self.asked.append(inputs["inputs"])
        return {"outputs": self.answer(inputs["inputs"], len(self.asked) - 1)}


def predicted(answer: Answer) -> tuple[np.ndarray, list[np.ndarray]]:
    room = Answering(answer)
    return predict(cast(Room, room), "", INPUTS, draw=DRAW, seconds=1), room.asked


def test_answers_come_back_in_order_from_shards_that_tell_nothing() -> None:
    made, asked = predicted(lambda inputs, number: inputs * 2)
    assert np.array_equal(made, INPUTS * 2)
    *parts, again = asked
    assert len(parts) == 3 and sorted(np.concatenate(parts)) == INPUTS.tolist()
    assert all(not np.array_equal(part, np.sort(part)) for part in parts if len(part) > 3)
    assert len(again) == 8 and set(again) < set(INPUTS)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda inputs, number: None, "no array"),
        (lambda inputs, number: inputs[:-1], "one row for each"),
        (lambda inputs, number: np.float64(3.0), "one row for each|no array"),
        (lambda inputs, number: np.zeros((len(inputs), number + 1)), "one shape and dtype"),
        (lambda inputs, number: inputs.astype("f4" if number else "f8"), "one shape and dtype"),
        (lambda inputs, number: inputs - inputs.mean(), "their own input alone"),
        (lambda inputs, number: np.arange(len(inputs)), "their own input alone"),
        (lambda inputs, number: inputs * (1 if number < 3 else 1.1), "their own input alone"),
        (lambda inputs, number: inputs.astype("f4" if number == 3 else "f8"), "the same form"),
        (lambda inputs, number: np.full(len(inputs), np.nan), "their own input alone"),
    ],
)
def test_answers_that_are_none_are_refused(answer: Answer, said: str) -> None:
    with pytest.raises(Unmet) as refused:
        predicted(answer)
    assert any(word in f"{refused.value.expected} {refused.value.seen}" for word in said.split("|"))


def test_noise_of_another_batch_is_no_disagreement() -> None:
    made, _ = predicted(lambda inputs, number: inputs + 1e-5 * number)
    assert np.allclose(made, INPUTS, atol=1e-4)


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_shards_hold_every_index_once(count: int) -> None:
    pieces = shards(np.random.default_rng(3), count)
    assert len(pieces) == min(3, count) and all(len(piece) for piece in pieces)
    assert sorted(np.concatenate(pieces).tolist()) == list(range(count))
