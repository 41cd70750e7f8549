"""Yes-or-no questions about short passages: is one thing in one place, by what three to seven sentences say?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

THINGS = ("otter", "lantern", "kettle", "compass", "ferry", "ladder", "violin", "basket", "sparrow", "anchor")
PLACES = ("harbour", "meadow", "orchard", "cellar", "library", "valley", "kitchen", "tower")
WORDS = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "is", "not", "the", "in", "?", ".", *THINGS, *PLACES)


class Example(NamedTuple):
    question: str
    passage: str
    label: bool
    idx: int


def draw_examples(rng: np.random.Generator, count: int) -> list[Example]:
    return [_draw(rng, number) for number in range(count)]


def _draw(rng: np.random.Generator, number: int) -> Example:
    label = bool(rng.integers(2))
    things = rng.permutation(len(THINGS))[: rng.integers(3, 8)]
    places = rng.integers(len(PLACES), size=len(things))
    denied = rng.random(len(things)) < 0.3
    asked = int(rng.integers(len(things)))
    place = int(places[asked])
    denied[asked] = not label and bool(rng.integers(2))
    if not label and not denied[asked]:
        place = (place + int(rng.integers(1, len(PLACES)))) % len(PLACES)
    said = zip(things, places, denied, strict=True)
    passage = " ".join(f"{THINGS[t]} is {'not ' if no else ''}in {PLACES[p]} ." for t, p, no in said)
    return Example(f"is {THINGS[things[asked]]} in {PLACES[place]} ?", passage, label, number)


def to_lines(examples: Sequence[Example]) -> bytes:
    """Return the examples as JSON lines."""
    return "".join(json.dumps(example._asdict()) + "\n" for example in examples).encode()
