"""How many tokens a prompt can have at most, known before it is sent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

PER_MESSAGE = 16  # role names and separators that a chat template adds
FOR_TOOLS = 512  # what providers put around tool definitions


class Estimator:
    """Bounds prompts by their bytes, since no token is shorter than one.

    A prompt that goes on from one whose true count is known is bounded by that count and the bytes it adds.
    """

    def __init__(self) -> None:
        self._known: tuple[int, str, int] | None = None  # messages, digest of them and the tools, their tokens

    def bound(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None) -> int:
        if self._known is not None:
            count, digest, tokens = self._known
            if len(messages) >= count and _digest(messages[:count], tools) == digest:
                return tokens + _size(messages[count:])
        return _size(messages) + (_length(tools) + FOR_TOOLS if tools else 0) + PER_MESSAGE

    def learn(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None, tokens: int) -> None:
        self._known = (len(messages), _digest(messages, tools), tokens)


def _length(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, default=str).encode())


def _size(messages: Sequence[Mapping[str, Any]]) -> int:
    return sum(_length(message) + PER_MESSAGE for message in messages)


def _digest(messages: Sequence[Mapping[str, Any]], tools: Sequence[Any] | None) -> str:
    text = json.dumps([list(messages), list(tools or [])], ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
