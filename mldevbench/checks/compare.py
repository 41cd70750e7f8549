"""Checks made from values that are already outside the sandbox; NaN and infinity never pass."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mldevbench.records import Check, Metric
from mldevbench.unmet import Unmet, clean

PLAIN_TYPES = (str, bytes, bool, type(None))
KINDS = {"f": "floating-point", "i": "whole-number", "u": "whole-number", "b": "boolean"}


def check(name: str, passed: bool, expected: str, seen: str) -> Check:
    """Return a check; what it says is cleaned, since `seen` often quotes the submission."""
    return Check(clean(name, 200), passed is True or passed is np.True_, clean(expected), clean(seen))


def metric(name: str, value: float) -> Metric:
    """Return a finite measure."""
    number = float(value)
    if not math.isfinite(number):
        raise Unmet(name, f"a finite {name}", f"{number}")
    return Metric(clean(name, 200), number)


def require(name: str, condition: bool, expected: str, seen: str) -> Check:
    """Return the passed check, or end the validation with the failed one."""
    made = check(name, condition, expected, seen)
    if not made.passed:
        raise Unmet(name, expected, seen)
    return made


def finite(value: Any) -> float | None:
    """Return a real number as a float, None for everything else."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def at_least(name: str, value: Any, bound: float, what: str = "") -> Check:
    number = finite(value)
    return check(name, number is not None and number >= bound, f"{what or name} at least {bound:g}", said(value))


def beats(name: str, value: Any, bound: float, what: str = "") -> Check:
    """Check a measure against its threshold, and say by how much it passes or misses it."""
    made, number = at_least(name, value, bound, what), finite(value)
    if number is None:
        return made
    side = "above" if number >= bound else "below"
    return check(name, made.passed, made.expected, f"{made.seen}, {abs(number - bound):.3g} {side} the threshold")


def at_most(name: str, value: Any, bound: float, what: str = "") -> Check:
    number = finite(value)
    return check(name, number is not None and number <= bound, f"{what or name} at most {bound:g}", said(value))


def said(value: Any) -> str:
    """Return how a value is quoted in a check."""
    number = finite(value)
    if number is not None:
        return f"{number:.6g}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    return clean(repr(value), 300)


def equal(name: str, seen: Any, expected: Any, show_expected: bool = True) -> Check:
    """Compare plain values strictly: True is not 1, "1" is not 1, NaN equals nothing."""
    passed = same(seen, expected)
    wanted = said(expected) if show_expected else "the right value (not shown)"
    return check(name, passed, wanted, said(seen) if show_expected or passed else f"another value: {said(seen)}")


def same(seen: Any, expected: Any) -> bool:
    """Tell whether two plain values are the same, without asking the left one."""
    if isinstance(expected, np.ndarray):
        return type(seen) is np.ndarray and not array_problem(seen, expected) and bool(np.array_equal(seen, expected))
    if isinstance(expected, PLAIN_TYPES):
        return type(seen) is type(expected) and seen == expected
    if isinstance(expected, Mapping):
        return (
            type(seen) is dict
            and seen.keys() == expected.keys()
            and all(same(seen[key], expected[key]) for key in expected)
        )
    if isinstance(expected, Sequence):
        return type(seen) in (list, tuple) and len(seen) == len(expected) and all(map(same, seen, expected))
    if finite(seen) is None or finite(expected) is None:
        return False
    return bool(seen == expected)


def close(name: str, seen: Any, expected: Any, *, tolerance: float, show: bool = False) -> Check:
    """Compare arrays or numbers element by element: shape, kind and finiteness first, then |difference|."""
    wanted = as_array(expected, np.float64)
    given = as_array(seen, wanted.dtype.type)
    promise = f"values of shape {wanted.shape}, each within {tolerance:g} of the right ones"
    if show and wanted.size <= 16:
        promise += f" {wanted.tolist()}"
    if problem := array_problem(given, wanted):
        return check(name, False, promise, problem)
    with np.errstate(all="ignore"):
        gaps = np.abs(given.astype(np.float64) - wanted.astype(np.float64))
    exact = wanted.dtype.kind != "f" and tolerance == 0
    wrong = int(np.count_nonzero(given != wanted if exact else ~(gaps <= tolerance)))
    if not wrong:
        return check(name, True, promise, "all are")
    seen_text = f"{wrong} of {wanted.size} values are not"
    if show:
        seen_text += f"; the largest difference is {np.max(gaps):.3g}"
        seen_text += f"; {given.tolist()}" if given.size <= 16 else ""
    return check(name, False, promise, seen_text)


def as_array(value: Any, kind: Any) -> np.ndarray:
    """Return plain arrays as they are; numbers and lists of numbers as an array of this kind."""
    if type(value) is np.ndarray:
        return value
    listed = plain_numbers(value)
    try:
        return np.asarray(listed, kind) if listed is not None else np.empty(0, object)
    except (ValueError, OverflowError, TypeError):
        return np.empty(0, object)


def plain_numbers(value: Any) -> Any:
    """Return nested lists with nothing but finite numbers in them, else None."""
    if type(value) in (list, tuple):
        inner = [plain_numbers(item) for item in value]
        return None if any(item is None for item in inner) else inner
    if isinstance(value, np.generic):
        value = value.item()
    return value if finite(value) is not None else None


def array_problem(seen: np.ndarray, expected: np.ndarray) -> str | None:
    """Return why an array can't even be compared with the expected one."""
    kind, wanted = KINDS.get(seen.dtype.kind), KINDS.get(expected.dtype.kind)
    if kind is None:
        return "no array of plain numbers"
    if seen.shape != expected.shape:
        return f"shape {seen.shape}"
    if kind != wanted:
        return f"{kind} values ({seen.dtype}) instead of {wanted} ones"
    if seen.dtype.kind == "f" and not np.isfinite(seen).all():
        return f"{int((~np.isfinite(seen)).sum())} of {seen.size} values are NaN or infinite"
    return None


def all_finite(name: str, arrays: Mapping[str, np.ndarray]) -> Check:
    """Check that no array holds NaN or infinity."""
    bad = [key for key, array in arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
    seen = f"NaN or infinity in {', '.join(bad[:5])}" if bad else f"{len(arrays)} arrays, all finite"
    return check(name, not bad, "finite values only", seen)
