"""Comparisons: strict about kinds, deaf to NaN, and silent about what is hidden."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mldevbench.checks import Unmet, all_finite, at_least, at_most, check, close, equal, metric, number, require, whole
from mldevbench.unmet import clean

NAN, INF = math.nan, math.inf


class Yes:
    """Claims whatever it is asked."""

    def __eq__(self, other: object) -> bool:
        return True

    __ge__ = __le__ = __gt__ = __lt__ = __eq__
    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> float:
        return 1.0


@pytest.mark.parametrize("value", [NAN, INF, -INF, True, "0.9", None, [1.0], Yes(), np.float32(NAN), 10**400])
def test_what_is_no_finite_number_passes_no_bound(value: object) -> None:
    assert not at_least("a", value, -1e9).passed
    assert not at_most("a", value, 1e9).passed
    with pytest.raises(Unmet):
        number(value, "a")
    with pytest.raises(Unmet):
        whole(value, "a")


@pytest.mark.parametrize(("value", "low", "high"), [(1, True, True), (0.999999, False, True), (1.0000001, True, False)])
def test_bounds(value: float, low: bool, high: bool) -> None:
    assert at_least("a", value, 1).passed is low
    assert at_most("a", value, 1).passed is high


EQUAL = [
    (1, 1, True),
    (1, 1.0, True),
    (True, 1, False),
    (1, True, False),
    ("1", 1, False),
    (NAN, NAN, False),
    (Yes(), 1, False),
    (Yes(), "x", False),
    ([1, 2], [1, 2], True),
    ([1, True], [1, 1], False),
    ({"a": [1]}, {"a": [1]}, True),
    ({"a": 1, "b": 2}, {"a": 1}, False),
    ({"a": Yes()}, {"a": 1}, False),
    (None, None, True),
    (0, None, False),
    (np.arange(3), np.arange(3), True),
    (np.arange(3.0), np.arange(3), False),
    ([0, 1, 2], np.arange(3), False),
]


@pytest.mark.parametrize(("seen", "expected", "passed"), EQUAL)
def test_equal(seen: object, expected: object, passed: bool) -> None:
    assert equal("a", seen, expected).passed is passed


class Liar(np.ndarray):
    """An array that differs by nothing from anything."""

    def __sub__(self, other: object) -> np.ndarray:  # type: ignore[override]
        return np.zeros(self.shape)


ONES = np.ones((2, 2), np.float32)
CLOSE = [
    (ONES + 1e-4, ONES, True),
    (ONES + 1e-2, ONES, False),
    (ONES * NAN, ONES, False),
    (ONES * INF, ONES, False),
    (ONES.reshape(4), ONES, False),
    (ONES.astype(int), ONES, False),
    (ONES.astype(object), ONES, False),
    (ONES.astype(bool), ONES, False),
    ((ONES * 5).view(Liar), ONES, False),
    (Yes(), ONES, False),
    (None, ONES, False),
    ([[1, 1], [1, 1]], ONES, True),
    ([[1, 1], [1]], ONES, False),
    ([[1, 1], [1, True]], ONES, False),
    (1.0, 1.0, True),
    (2, 1.0, False),
    (np.array([2**53 + 1]), np.array([2**53]), False),
    (np.full(2, 3e38, np.float32), np.full(2, -3e38, np.float32), False),
]


@pytest.mark.parametrize(("seen", "expected", "passed"), CLOSE)
def test_close(seen: object, expected: object, passed: bool) -> None:
    whole_numbers = isinstance(expected, np.ndarray) and expected.dtype.kind == "i"
    assert close("a", seen, expected, tolerance=0 if whole_numbers else 1e-3).passed is passed


def test_hidden_values_are_not_told() -> None:
    told = close("a", np.array([1.0]), np.array([0.123456]), tolerance=0.001)
    assert "0.123" not in told.expected + told.seen and "0.87" not in told.seen
    assert "0.123456" in close("a", np.array([1.0]), np.array([0.123456]), tolerance=0.001, show=True).expected
    assert "777" not in str(equal("a", 5, 777, show_expected=False))


def test_texts_are_made_safe_to_store() -> None:
    made = check("a\x1b[0m", True, "b\ud800", "c\0\r" + "x" * 10_000)
    assert made.name == "a\\x1b[0m" and made.expected == "b\\ud800" and made.seen.startswith("c\\x00\\r")
    assert len(made.seen) < 2100
    assert clean("\U0001f600 ok\nline") == "\U0001f600 ok\nline"


def test_only_a_true_bool_passes() -> None:
    for odd in (1, "yes", Yes(), np.ones(1, bool), None):
        assert check("a", odd, "", "").passed is False  # type: ignore[arg-type]
    assert check("a", np.bool_(True), "", "").passed is True  # type: ignore[arg-type]


def test_require_and_metric() -> None:
    assert require("a", True, "x", "y").passed
    with pytest.raises(Unmet, match="a: expected x; seen: y"):
        require("a", False, "x", "y")
    assert metric("loss", np.float32(0.5)).value == 0.5
    with pytest.raises(Unmet):
        metric("loss", NAN)
    assert all_finite("w", {"a": ONES}).passed
    assert not all_finite("w", {"a": ONES, "b": ONES * NAN}).passed
