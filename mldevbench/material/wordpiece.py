"""BERT's uncased tokeniser for plain ASCII text, and vocabularies that are drawn."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SYLLABLES = [f"{first}{vowel}" for first in "bdfgklmnprstvz" for vowel in "aeiou"]
MARKS = ".,;:!?-()"


def draw_vocabulary(rng: np.random.Generator, words: int) -> list[str]:
    """Draw pieces in a drawn order behind the special ones; single letters make sure that nothing is unknown."""
    letters = [*string.ascii_lowercase, *string.digits, *MARKS]
    pieces = {*letters, *(f"##{letter}" for letter in string.ascii_lowercase + string.digits)}
    while len(pieces) < words:
        piece = "".join(rng.choice(SYLLABLES, int(rng.integers(1, 4))))
        pieces.add(f"##{piece}" if rng.integers(3) == 0 else piece)
    listed = sorted(pieces)
    return [*SPECIAL, *(listed[int(place)] for place in rng.permutation(len(listed)))]


def draw_text(rng: np.random.Generator, vocabulary: Sequence[str]) -> str:
    """Draw a sentence of known words, compounds and nonsense, some of it in capitals."""
    known = [piece for piece in vocabulary if piece.isascii() and piece.isalpha() and len(piece) > 1]
    ends = [piece[2:] for piece in vocabulary if piece.startswith("##") and piece.isascii() and piece[2:].isalpha()]
    words = []
    for _ in range(int(rng.integers(6, 15))):
        word = str(rng.choice(known))
        if rng.integers(2):
            word += "".join(str(rng.choice(ends)) for _ in range(int(rng.integers(1, 4))))
        word = str(rng.choice([word, word.upper(), word.capitalize()]))
        words.append(word + (str(rng.choice(list(MARKS))) if rng.integers(4) == 0 else ""))
    return " ".join(words)


def encode(text: str, vocabulary: Sequence[str]) -> list[int]:
    """Return the ids between the marks for beginning and end."""
    ids = {piece: number for number, piece in enumerate(vocabulary)}
    found = [ids["[CLS]"]]
    for word in _words(text.lower()):
        found += _pieces(word, ids)
    return [*found, ids["[SEP]"]]


def _words(text: str) -> list[str]:
    """Split at blanks, and before and after every mark."""
    parted = "".join(f" {letter} " if letter in string.punctuation else letter for letter in text)
    return parted.split()


def _pieces(word: str, ids: Mapping[str, int]) -> list[int]:
    """Take the longest piece that fits, again and again; a word that can't be made of pieces is unknown."""
    found, start = [], 0
    while start < len(word):
        for stop in range(len(word), start, -1):
            piece = word[start:stop] if start == 0 else f"##{word[start:stop]}"
            if piece in ids:
                found.append(ids[piece])
                break
        else:
            return [ids["[UNK]"]]
        start = stop
    return found


def tokenizer_file(vocabulary: Sequence[str]) -> dict[str, Any]:
    """Return the description of this tokeniser that the hub's library reads."""
    ids = {piece: number for number, piece in enumerate(vocabulary)}
    first, end, text = _mark("[CLS]"), _mark("[SEP]"), {"Sequence": {"id": "A", "type_id": 0}}
    second = [{"Sequence": {"id": "B", "type_id": 1}}, _mark("[SEP]", 1)]
    marks = {name: {"id": name, "ids": [ids[name]], "tokens": [name]} for name in ("[CLS]", "[SEP]")}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": ids[name], "content": name, **flags} for name in SPECIAL],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, text, end],
            "pair": [first, text, end, *second],
            "special_tokens": marks,
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": ids,
        },
    }


def _mark(name: str, kind: int = 0) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": kind}}
