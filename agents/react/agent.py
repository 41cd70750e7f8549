"""ReAct: ask the model, act in the sandbox, show what came of it; no prompt but the task's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mldevbench import plugin
from mldevbench.agent import Context
from mldevbench.model.budget import RequestRefused
from mldevbench.model.door import Model, Reply, ToolCall
from mldevbench.records import Step, StopReason

HERE = Path(__file__).parent
memory = plugin.load(HERE / "memory.py")
text_protocol = plugin.load(HERE / "text_protocol.py")
tools = plugin.load(HERE / "tools.py")

SAMPLING = ("temperature", "top_p", "max_tokens", "reasoning_effort")
TRIMS = 3  # tries with less and less context when the provider says that it is too long
GO_ON = "Your answer was cut because it was too long. Go on, with shorter answers."


class React:
    """Ends when the model calls no tool, or when the budget does."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._params = params
        self._sampling = {name: params[name] for name in SAMPLING if params.get(name) is not None}

    def run(self, instruction: str, context: Context) -> None:
        model = context.model
        assert model is not None, "agent.yaml says that it needs one"
        box = tools.Toolbox(context.sandbox, self._params["shell_seconds"], self._params["shown_characters"])
        speaker = self._speaker(model)
        talk = memory.Conversation(speaker.opening(instruction), self._params["window"] or model.spec.window)
        while True:
            reply = self._ask(model, talk, speaker)
            calls: Sequence[ToolCall] = speaker.calls(reply)
            talk.add([reply.message], answered=reply.usage)
            if calls:
                results = [(call, self._act(call, reply, box, context)) for call in calls]
                talk.add(speaker.results(results))
            elif reply.finish == "length":
                talk.add([{"role": "user", "content": GO_ON}])
            else:
                return

    def _speaker(self, model: Model) -> Any:
        wanted = self._params["protocol"]
        by_tools = model.spec.tools if wanted == "auto" else wanted == "tools"
        return ToolCalls() if by_tools else text_protocol.TextProtocol(tools.DEFINITIONS)

    def _ask(self, model: Model, talk: Any, speaker: Any) -> Reply:
        talk.fit()
        for _ in range(TRIMS):
            try:
                return model.complete(talk.messages, tools=speaker.definitions, **self._sampling)
            except RequestRefused as error:
                if error.stop_reason is not StopReason.CONTEXT or not talk.halve():
                    raise
        return model.complete(talk.messages, tools=speaker.definitions, **self._sampling)

    def _act(self, call: ToolCall, reply: Reply, box: Any, context: Context) -> str:
        done = box.act(call.name, call.arguments)
        context.record(
            Step(
                role="tool",
                text=done.text,
                tool=call.name,
                arguments=call.arguments,
                exit_code=done.exit_code,
                seconds=done.seconds,
                number=reply.step,
            )
        )
        return done.text


class ToolCalls:
    """Speaks with models that call tools by themselves."""

    definitions = tools.DEFINITIONS

    def opening(self, instruction: str) -> list[dict[str, Any]]:
        return [{"role": "user", "content": instruction}]

    def calls(self, reply: Reply) -> Sequence[ToolCall]:
        return reply.calls

    def results(self, results: Sequence[tuple[ToolCall, str]]) -> list[dict[str, Any]]:
        return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]
