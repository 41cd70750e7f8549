"""The text form of prepared turns, which `scripted/FILE` and `replay/STUDY` play."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from mldevbench import yamlfile
from mldevbench.errors import UserError


class TurnUsage(BaseModel):
    """Tokens that the turn reports; what isn't said is estimated from the text."""

    model_config = ConfigDict(extra="forbid")
    prompt: int | None = Field(default=None, ge=0)
    completion: int | None = Field(default=None, ge=0)
    cached: int = Field(default=0, ge=0)
    reasoning: int = Field(default=0, ge=0)


class TurnError(BaseModel):
    """A provider's error in place of an answer."""

    model_config = ConfigDict(extra="forbid")
    status: int = Field(ge=400, le=599)
    message: str = "scripted error"
    retry_after: float | None = Field(default=None, ge=0)


class Turn(BaseModel):
    """One answer: text, tool calls as `{tool: arguments}`, or an error; after a delay in seconds."""

    model_config = ConfigDict(extra="forbid")
    text: str = ""
    reasoning: str | None = None
    calls: list[dict[str, Any]] = []
    usage: TurnUsage = TurnUsage()
    error: TurnError | None = None
    delay: float = Field(default=0.0, ge=0)
    finish: str | None = None

    @model_validator(mode="after")
    def _one_tool_each(self) -> Turn:
        if any(len(call) != 1 for call in self.calls):
            raise ValueError("each of `calls` names one tool: `- shell: {command: ls}`")
        return self

    def tool_calls(self) -> list[tuple[str, str]]:
        """Return names with arguments as JSON; a string is taken as it is, so that broken JSON can be played."""
        pairs = [next(iter(call.items())) for call in self.calls]
        return [(name, value if isinstance(value, str) else json.dumps(value or {})) for name, value in pairs]


class Scene(BaseModel):
    """Turns for the conversations whose first message matches."""

    model_config = ConfigDict(extra="forbid")
    match: str = ""
    turns: list[Turn]
    then: Literal["stop", "repeat"] = "stop"  # after the last turn: say nothing more, or begin again

    def fits(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        text = "\n".join(_text(message.get("content")) for message in messages if message.get("role") != "assistant")
        return re.search(self.match, text) is not None


class Script(BaseModel):
    """`turns:` for every conversation, or `scenes:`, of which the first that matches is played."""

    model_config = ConfigDict(extra="forbid")
    version: Literal[1] = 1
    served: str = "scripted"
    turns: list[Turn] = []
    then: Literal["stop", "repeat"] = "stop"
    scenes: list[Scene] = []

    def scene_for(self, messages: Sequence[Mapping[str, Any]]) -> Scene:
        fitting = (scene for scene in self.scenes if scene.fits(messages))
        return next(fitting, Scene(turns=self.turns, then=self.then))


def parse_script(text: str, where: str) -> Script:
    """Read a script, or say which line of it is wrong."""
    try:
        raw = yaml.load(text, Loader=_LOADER) or {}
    except yaml.YAMLError as error:
        raise UserError(f"script {where}: {' '.join(str(error).split())}") from None
    return yamlfile.build(raw, Script, f"script {where}", text)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content or [] if isinstance(part, Mapping))


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
