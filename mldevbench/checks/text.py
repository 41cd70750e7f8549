"""Strict, size-limited readers of submitted JSON, CSV and text; what they refuse they refuse with Unmet."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from mldevbench.checks.compare import finite, said
from mldevbench.room.strict import parse_json
from mldevbench.submission.record import Submission
from mldevbench.unmet import Unmet


def read_text(submission: Submission, path: str, max_kb: float = 256) -> str:
    """Return a UTF-8 text without NUL bytes or a byte-order mark."""
    raw = submission.bytes(path, max_kb)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unmet(path, f"{path} in UTF-8", f"byte {error.start} is not UTF-8") from None
    if "\0" in text:
        raise Unmet(path, f"{path} as plain text", f"a NUL byte at position {text.index(chr(0))}")
    if text.startswith("\ufeff"):
        raise Unmet(path, f"{path} in UTF-8 without a byte-order mark", "a byte-order mark")
    return text


def read_json(submission: Submission, path: str, max_kb: float = 256) -> Any:
    """Return a JSON value: no NaN, no infinity, no key twice, no absurd depth or digits."""
    try:
        return parse_json(read_text(submission, path, max_kb))
    except ValueError as error:
        raise Unmet(path, f"{path} as valid JSON", str(error)) from None


def read_csv(
    submission: Submission, path: str, columns: Sequence[str], max_rows: int, max_kb: float = 8192
) -> list[dict[str, str]]:
    """Return the rows of a CSV file with exactly these columns, in any order."""
    text = read_text(submission, path, max_kb)
    try:
        rows = list(limited(csv.reader(io.StringIO(text, newline=""), strict=True), max_rows))
    except (csv.Error, ValueError) as error:
        raise Unmet(path, f"{path} as valid CSV of at most {max_rows} rows", str(error)) from None
    header = rows[0] if rows else []
    if sorted(header) != sorted(columns):
        raise Unmet(
            path,
            f"{path} with the columns {', '.join(columns)}",
            f"the columns {', '.join(header) or 'none'}",
        )
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            raise Unmet(path, f"{len(header)} fields in every row of {path}", f"{len(row)} fields in row {number}")
    return [dict(zip(header, row, strict=True)) for row in rows[1:]]


def limited(rows: Any, max_rows: int) -> Any:
    for count, row in enumerate(filter(None, rows)):
        if count > max_rows:
            raise ValueError(f"more than {max_rows} rows")
        yield row


def number(value: Any, name: str, low: float | None = None, high: float | None = None) -> float:
    """Return a finite number in its range; a bool, a string, NaN or infinity is none."""
    made = finite(value)
    if made is None or (low is not None and made < low) or (high is not None and made > high):
        raise Unmet(name, f"{name} as a finite number{bounds(low, high)}", said(value))
    return made


def whole(value: Any, name: str, low: int | None = None, high: int | None = None) -> int:
    """Return a whole number in its range; 3.0 is 3, "3" and True are not."""
    made = finite(value)
    if made is None or made != int(made):
        raise Unmet(name, f"{name} as a whole number{bounds(low, high)}", said(value))
    exact = int(value)
    if (low is not None and exact < low) or (high is not None and exact > high):
        raise Unmet(name, f"{name} as a whole number{bounds(low, high)}", said(value))
    return exact


def numeral(text: Any, name: str, low: float | None = None, high: float | None = None) -> float:
    """Return the finite number that a CSV field holds."""
    try:
        if not isinstance(text, str) or not text.isascii() or len(text) > 64 or "_" in text:
            raise ValueError
        value = float(text)
    except ValueError:
        raise Unmet(name, f"{name} as a finite number{bounds(low, high)}", said(text)) from None
    return number(value, name, low, high)


def bounds(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f" of at least {low:g}"
    return f" of at most {high:g}" if high is not None else ""
