"""Strict parsing of bytes that submitted code wrote: JSON and raw arrays; every fault is a ValueError."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

MAX_DIMENSIONS = 16
MAX_DEPTH = 32
MAX_DIGITS = 30
# Possessive, and an unfinished string reaches to the end: otherwise hostile text takes quadratic time.
STRINGS = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
BRACKETS = re.compile(r"[\[\]{}]")


def parse_json(text: str) -> Any:
    """Parse strictly; every fault is a ValueError with words that a person can act on."""
    if depth_of(text) > MAX_DEPTH:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    try:
        value = json.loads(
            text,
            object_pairs_hook=unique,
            parse_constant=refuse_constant,
            parse_int=whole_number,
            parse_float=real_number,
        )
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair in a string") from None
    except RecursionError:
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep") from None
    return value


def depth_of(text: str) -> int:
    depth = deepest = 0
    for found in BRACKETS.finditer(STRINGS.sub("", text)):
        depth += 1 if found.group() in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"the key {key[:80]!r} stands twice in one object")
        made[key] = value
    return made


def refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")
    return int(digits)


def real_number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:40]} is beyond every float")
    return value


def naturals(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 1 << 62 for item in value)


def plain_array(data: bytes | memoryview, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """Return an own copy of raw bytes as an array; shape and byte count must agree."""
    kind = np.dtype(dtype)
    if len(shape) > MAX_DIMENSIONS:
        raise ValueError(f"{len(shape)} dimensions")
    if math.prod(shape) * kind.itemsize != len(data):
        raise ValueError(f"shape {tuple(shape)} of {kind} doesn't fit {len(data)} bytes of data")
    if kind.kind == "b":
        bits = np.frombuffer(data, np.uint8)
        if (bits > 1).any():
            raise ValueError("a boolean that is neither 0 nor 1")
        return (bits == 1).reshape(shape)
    return np.frombuffer(data, kind).astype(kind.newbyteorder("=")).reshape(shape)
