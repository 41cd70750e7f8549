"""Plays a script as a provider of litellm, so that it takes the same way as a real model."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from mldevbench.model.estimate import PER_MESSAGE
from mldevbench.model.script import Scene, Script, Turn, TurnError

PROVIDER = "scripted"


class Player:
    """One conversation's place in a script; the scene is chosen by the first call."""

    def __init__(self, script: Script) -> None:
        self.served = script.served
        self._script = script
        self._scene: Scene | None = None
        self._position = 0
        self._lock = threading.Lock()

    def next_turn(self, messages: Sequence[Mapping[str, Any]]) -> Turn:
        with self._lock:
            if self._scene is None:
                self._scene = self._script.scene_for(messages)
            turns = self._scene.turns
            if self._scene.then == "repeat" and turns:
                self._position %= len(turns)
            if self._position >= len(turns):
                return Turn()
            self._position += 1
            return turns[self._position - 1]


def answer_of(turn: Turn, messages: Sequence[Mapping[str, Any]], served: str) -> dict[str, Any]:
    """Return a turn in the form of OpenAI's chat completions."""
    calls = [
        {"id": f"call_{len(messages)}_{position}", "type": "function", "function": {"name": name, "arguments": text}}
        for position, (name, text) in enumerate(turn.tool_calls())
    ]
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    message |= {"tool_calls": calls} if calls else {}
    message |= {"reasoning_content": turn.reasoning} if turn.reasoning else {}
    finish = turn.finish or ("tool_calls" if calls else "stop")
    return {
        "model": served,
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": _usage(turn, messages),
    }


def _usage(turn: Turn, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    said = turn.usage
    guess = sum(len(str(message.get("content") or "")) // 4 + PER_MESSAGE for message in messages)
    prompt = guess if said.prompt is None else said.prompt
    spoken = len(turn.text) + len(turn.reasoning or "") + sum(len(text) for _, text in turn.tool_calls())
    completion = max(1, spoken // 4) if said.completion is None else said.completion
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": said.cached},
        "completion_tokens_details": {"reasoning_tokens": said.reasoning},
    }


class Stage:
    """The players of this process, each under a name that only its own model knows."""

    def __init__(self) -> None:
        self._players: dict[str, Player] = {}
        self._numbers = itertools.count()

    def enter(self, player: Player) -> str:
        name = f"player-{next(self._numbers)}"
        self._players[name] = player
        return name

    def leave(self, name: str) -> None:
        self._players.pop(name, None)

    async def play(self, name: str, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        player = self._players[name]
        turn = player.next_turn(messages)
        await asyncio.sleep(turn.delay)
        if turn.error is not None:
            raise ScriptedError(turn.error)
        return answer_of(turn, messages, player.served)


class ScriptedError(Exception):
    """A prepared error, in the shape that a provider's has."""

    def __init__(self, error: TurnError) -> None:
        super().__init__(error.message)
        self.status_code = error.status
        headers = {} if error.retry_after is None else {"retry-after": str(error.retry_after)}
        self.litellm_response_headers = headers
