"""Names and phrases that an instance draws, so that no recorded answer fits."""

from __future__ import annotations

import numpy as np

MANNERS = ("quiet", "brisk", "amber", "patient", "hollow", "mossy", "distant", "early", "gentle", "crooked")
THINGS = (
    "harbour",
    "otter",
    "lantern",
    "meadow",
    "kettle",
    "glacier",
    "orchard",
    "compass",
    "thistle",
    "ferry",
)


def greeting(rng: np.random.Generator) -> str:
    """Return a greeting, one of a hundred thousand."""
    manner, thing = rng.choice(MANNERS), rng.choice(THINGS)
    return f"Hello, {manner} {thing} {rng.integers(1000)}."
