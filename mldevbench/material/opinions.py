"""Yes-or-no questions about short passages, after either kind of word; asides in the passages mean nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def draw_opinions(rng: np.random.Generator, count: int, asked: int | None = None) -> list[Example]:
    """Draw questions; all of them after words of kind `asked`, where one is given."""
    return [_draw(rng, number, asked) for number in range(count)]


def _draw(rng: np.random.Generator, number: int, asked: int | None) -> Example:
    """Draw an odd number of sentences, two of them with an aside, and a question."""
    kinds = rng.integers(2, size=int(rng.choice(LENGTHS)))
    wanted = int(rng.integers(2)) if asked is None else asked
    label = int(kinds.sum() * 2 > len(kinds)) == wanted
    said = [f"the {rng.choice(THINGS)} was {rng.choice(KINDS[kind])} ." for kind in kinds]
    for place, aside in zip(rng.permutation(len(said))[:2], rng.choice(ASIDES, 2), strict=True):
        said[place] = f"{aside} , {said[place]}"
    return Example(f"was it mostly {rng.choice(KINDS[wanted])} ?", " ".join(said), label, number)


def shuffled_words(
    rng: np.random.Generator, weights: Mapping[str, np.ndarray], words: Sequence[str]
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the same model with its vocabulary in another order."""
    order = rng.permutation(len(words))
    made = {**weights, "words.weight": np.ascontiguousarray(weights["words.weight"][order])}
    return made, [words[int(place)] for place in order]
