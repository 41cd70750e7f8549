"""Text of unknown origin, made harmless for a terminal or a page: what would act unseen is spelled out."""

from __future__ import annotations

import re

# Control characters but tab and line feed, and those that turn or hide the direction of text.
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """Return the text with each acting character as its picture or its number."""
    return ACTING.sub(_named, text)


def _named(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
