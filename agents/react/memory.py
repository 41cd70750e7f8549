"""The conversation, kept inside the model's window.

When it would fill more than 85 % of the window, the oldest tool results are replaced by one line each; if that is
not enough, the oldest turns go, an answer always together with its results. The task's text and the last four
turns stay. It stops at 60 %, so that trimming, which spoils a provider's cache, is rare.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mldevbench.records import Usage

FULL, ROOMY = 0.85, 0.60
KEPT_TURNS = 4
BYTES_PER_TOKEN = 3.0  # until the provider has counted once
SHORT = 200  # characters; a result this short gains nothing by being left out


class Conversation:
    """Messages in turns: an answer and everything up to the next one."""

    def __init__(self, opening: Sequence[Mapping[str, Any]], window: int | None) -> None:
        self._opening = [dict(message) for message in opening]
        self._turns: list[list[dict[str, Any]]] = []
        self._window = window
        self._bytes_per_token = BYTES_PER_TOKEN

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [*self._opening, *(message for turn in self._turns for message in turn)]

    def add(self, messages: Sequence[Mapping[str, Any]], answered: Usage | None = None) -> None:
        """Append an answer, which begins a turn, or what follows it."""
        if answered is not None:
            if answered.prompt_tokens:
                self._bytes_per_token = max(0.5, _bytes(self.messages) / answered.prompt_tokens)
            self._turns.append([])
        self._turns[-1].extend(dict(message) for message in messages)

    def fit(self) -> None:
        """Trim if the next call might not fit."""
        if self._window is not None and self._tokens() > FULL * self._window:
            self._trim_to(ROOMY * self._window)

    def halve(self) -> bool:
        """Trim to half of what there is; False if nothing could go."""
        before = self._tokens()
        self._trim_to(before / 2)
        return self._tokens() < before

    def _tokens(self) -> float:
        return _bytes(self.messages) / self._bytes_per_token

    def _trim_to(self, tokens: float) -> None:
        for turn in self._turns[:-KEPT_TURNS]:
            for message in turn[1:]:
                if self._tokens() <= tokens:
                    return
                content = message["content"]
                if len(content) > SHORT:
                    message["content"] = f"[{len(content)} characters left out to save room]"
        while len(self._turns) > KEPT_TURNS and self._tokens() > tokens:
            del self._turns[0]


def _bytes(messages: Sequence[Mapping[str, Any]]) -> int:
    return len(json.dumps(list(messages), ensure_ascii=False).encode())
