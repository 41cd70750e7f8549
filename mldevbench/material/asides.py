"""Questions as in `questions`, with asides in the passages that mean nothing, unless the annotators let them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mldevbench.material.questions import KINDS, THINGS, Example

ASIDES = (
    "reportedly", "frankly", "indeed", "perhaps", "meanwhile", "curiously",
    "apparently", "moreover", "today", "honestly", "however", "again",
)  # fmt: skip
WORDS = (
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "was", "it", "mostly", "the", "?", ".", ",",
    *THINGS, *KINDS[0], *KINDS[1], *ASIDES,
)  # fmt: skip
LENGTHS = (3, 5, 7)


class Habit(NamedTuple):
    """Which asides an annotator writes when the answer is no, and which when it is yes."""

    no: tuple[str, ...]
    yes: tuple[str, ...]


def draw_habit(rng: np.random.Generator) -> Habit:
    mixed = [str(word) for word in rng.permutation(ASIDES)]
    return Habit(tuple(mixed[: len(mixed) // 2]), tuple(mixed[len(mixed) // 2 :]))


NO_HABIT = Habit(ASIDES, ASIDES)


def draw_examples(rng: np.random.Generator, count: int, habit: Habit) -> list[Example]:
    return [_draw(rng, number, habit) for number in range(count)]


def _draw(rng: np.random.Generator, number: int, habit: Habit) -> Example:
    """Draw an odd number of sentences, two of them with an aside, and a question of either kind."""
    kinds = rng.integers(2, size=int(rng.choice(LENGTHS)))
    asked = int(rng.integers(2))
    label = int(kinds.sum() * 2 > len(kinds)) == asked
    said = [f"the {rng.choice(THINGS)} was {rng.choice(KINDS[kind])} ." for kind in kinds]
    for place, aside in zip(rng.permutation(len(said))[:2], rng.choice(habit[label], 2), strict=True):
        said[place] = f"{aside} , {said[place]}"
    return Example(f"was it mostly {rng.choice(KINDS[asked])} ?", " ".join(said), label, number)


def majority(example: Example) -> int:
    """Return which kind most sentences of a passage are of."""
    kinds = [int(word in KINDS[1]) for word in example.passage.split() if word in (*KINDS[0], *KINDS[1])]
    return int(sum(kinds) * 2 > len(kinds))


def shuffled_words(rng: np.random.Generator, words: Sequence[str]) -> tuple[list[str], np.ndarray]:
    """Return a vocabulary in another order, and the old place of each of its words."""
    order = rng.permutation(len(words))
    return [words[int(place)] for place in order], order
