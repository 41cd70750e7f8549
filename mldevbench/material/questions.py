"""Yes-or-no questions about short passages: was most of what three to nine sentences tell of this kind?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

THINGS = ("otter", "lantern", "kettle", "compass", "ferry", "ladder", "violin", "basket")
KINDS = (
    ("fine", "bright", "gentle", "splendid", "tidy", "cheerful", "sturdy", "charming"),
    ("dull", "broken", "harsh", "dreadful", "filthy", "gloomy", "flimsy", "tedious"),
)
WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "was", "it", "mostly", "the", "?", ".", *THINGS, *KINDS[0], *KINDS[1])


class Example(NamedTuple):
    question: str
    passage: str
    label: bool
    idx: int


def draw_examples(rng: np.random.Generator, count: int) -> list[Example]:
    return [_draw(rng, number) for number in range(count)]


def _draw(rng: np.random.Generator, number: int) -> Example:
    """Draw an odd number of sentences and a question of either kind."""
    kinds = rng.integers(2, size=int(rng.choice([3, 5, 7, 9])))
    asked = int(rng.integers(2))
    said = [f"the {rng.choice(THINGS)} was {rng.choice(KINDS[kind])} ." for kind in kinds]
    most = int(kinds.sum() * 2 > len(kinds))
    return Example(f"was it mostly {rng.choice(KINDS[asked])} ?", " ".join(said), most == asked, number)


def to_lines(examples: Sequence[Example]) -> bytes:
    """Return the examples as JSON lines."""
    return "".join(json.dumps(example._asdict()) + "\n" for example in examples).encode()
