"""Every published test vector, each by its own call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stats.vector import answer

from mldevbench.stats.fit import fit_power_law

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))
FITTED = {"bb/mle", "logit/b50"}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["id"])
def test_vector(vector: dict[str, object]) -> None:
    expected = vector["values"]
    assert isinstance(expected, list)
    tolerance = 1e-4 if vector["id"] in FITTED else 1e-9
    # The vectors have 12 digits, so large sums carry a relative error too.
    assert list(answer(str(vector["id"]))) == pytest.approx(expected, abs=tolerance, rel=1e-11)


def test_power_law_is_found_again() -> None:
    (curve,) = (vector["values"] for vector in VECTORS if vector["id"] == "epl/c")
    found = fit_power_law([1, 2, 4, 8, 16, 32, 64], curve)
    assert found
    assert (found.scale, found.exponent) == pytest.approx((1.8, 0.45), abs=1e-4)
