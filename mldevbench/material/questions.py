"""Yes-or-no questions about short passages: does a passage of three to nine sentences say that there is a thing?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

THINGS = (
    "otter", "lantern", "kettle", "compass", "ferry", "ladder",
    "violin", "basket", "sparrow", "anchor", "pillow", "candle",
)  # fmt: skip
WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "is", "there", "no", "one", "?", ".", *THINGS)


class Example(NamedTuple):
    question: str
    passage: str
    label: bool
    idx: int


def draw_examples(rng: np.random.Generator, count: int) -> list[Example]:
    return [_draw(rng, number) for number in range(count)]


def _draw(rng: np.random.Generator, number: int) -> Example:
    """Draw an example; a thing that is asked for and not there is denied or not spoken of."""
    things = rng.permutation(len(THINGS))[: rng.integers(3, 10)]
    denied = rng.random(len(things)) < 0.5
    place, label = int(rng.integers(len(things))), bool(rng.integers(2))
    asked, denied[place] = int(things[place]), not label
    passage = " ".join(f"there is {'no' if no else 'one'} {THINGS[t]} ." for t, no in zip(things, denied, strict=True))
    if not label and rng.random() < 0.3:
        asked = int(rng.choice(np.setdiff1d(np.arange(len(THINGS)), things)))
    return Example(f"is there one {THINGS[asked]} ?", passage, label, number)


def to_lines(examples: Sequence[Example]) -> bytes:
    """Return the examples as JSON lines."""
    return "".join(json.dumps(example._asdict()) + "\n" for example in examples).encode()
