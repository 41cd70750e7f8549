"""For models that can't call tools: calls are fenced blocks of JSON in the text, results are messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mldevbench.model.door import Reply, ToolCall

FENCE = re.compile(r"^```(?:tool|json)[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
HOW = """
---
You act by tools. To call one, write a block of this form, with nothing else on its lines:

```tool
{"tool": "shell", "arguments": {"command": "ls"}}
```

Several blocks in one answer are carried out in order; then you are told the results. An answer without a block ends
your work. The tools:

"""


class TextProtocol:
    """Speaks in plain text."""

    definitions = None

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        self._tools = tools

    def opening(self, instruction: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": instruction + HOW + "\n".join(map(_described, self._tools))}]

    def calls(self, reply: Reply) -> Sequence[ToolCall]:
        # Reasoning models without a field for it write their thoughts first; no call is meant there.
        text = reply.text.rpartition("</think>")[2]
        blocks = [match.group(1) for match in FENCE.finditer(text)]
        calls = [_call(f"text_{reply.step}_{position}", block) for position, block in enumerate(blocks)]
        return [call for call in calls if call is not None]

    def results(self, results: Sequence[tuple[ToolCall, str]]) -> list[dict[str, Any]]:
        return [{"role": "user", "content": f"Result of {call.name}:\n{text}"} for call, text in results]


def _call(identity: str, block: str) -> ToolCall | None:
    """Read a block; JSON that names no tool is part of the text and not a call."""
    try:
        value = json.loads(block, strict=False)
    except ValueError:
        # It was meant as a call: the error that the tools give back teaches the form.
        return ToolCall(identity, "?", block) if '"tool"' in block else None
    if not isinstance(value, dict) or "tool" not in value:
        return None
    return ToolCall(identity, str(value["tool"]), json.dumps(value.get("arguments", {})))


def _described(tool: Mapping[str, Any]) -> str:
    function = tool["function"]
    properties = function["parameters"]["properties"]
    takes = ", ".join(f"{name} ({about['description']})" for name, about in properties.items())
    return f"- {function['name']}: {function['description']} Arguments: {takes}."
