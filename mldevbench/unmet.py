"""The one way in which reading or running a submission ends a validation: with a failed check."""

from __future__ import annotations

MAX_TEXT = 2000


def clean(text: str, limit: int = MAX_TEXT) -> str:
    """Return text that is safe to store and show: printable, no lone surrogates, not endless."""
    shown = "".join(c if c.isprintable() or c == "\n" else escape(c) for c in text[: limit + 1])
    return shown if len(text) <= limit and len(shown) <= limit else shown[:limit] + " …"


def escape(character: str) -> str:
    return " " if character == "\t" else character.encode("unicode_escape").decode("ascii")


class Unmet(Exception):
    """A demand on the submission that doesn't hold."""

    def __init__(self, name: str, expected: str, seen: str) -> None:
        self.name = clean(name, 200)
        self.expected = clean(expected)
        self.seen = clean(seen)
        super().__init__(f"{self.name}: expected {self.expected}; seen: {self.seen}")

    def __reduce__(self) -> tuple[type[Unmet], tuple[str, str, str]]:
        return Unmet, (self.name, self.expected, self.seen)
