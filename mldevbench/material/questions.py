"""Yes-or-no questions about short passages: is a thing among those that three to nine sentences name?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

THINGS = (
    "otter", "lantern", "kettle", "compass", "ferry", "ladder",
    "violin", "basket", "sparrow", "anchor", "pillow", "candle",
    "saddle", "mirror", "hammer", "walnut", "feather", "teapot",
)  # fmt: skip
WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "is", "there", "one", "?", ".", *THINGS)

WRONG_LABELS = 0.08


class Example(NamedTuple):
    question: str
    passage: str
    label: bool
    idx: int


def draw_examples(rng: np.random.Generator, count: int) -> list[Example]:
    return [_draw(rng, number) for number in range(count)]


def _draw(rng: np.random.Generator, number: int) -> Example:
    """Draw an example; some labels are wrong, as they are where people give them."""
    there = bool(rng.integers(2))
    things = rng.permutation(len(THINGS))
    named = things[: rng.integers(3, 10)]
    asked = int(rng.choice(named)) if there else int(things[-1])
    passage = " ".join(f"there is one {THINGS[thing]} ." for thing in named)
    label = there != (rng.random() < WRONG_LABELS)
    return Example(f"is there one {THINGS[asked]} ?", passage, label, number)


def to_lines(examples: Sequence[Example]) -> bytes:
    """Return the examples as JSON lines."""
    return "".join(json.dumps(example._asdict()) + "\n" for example in examples).encode()
