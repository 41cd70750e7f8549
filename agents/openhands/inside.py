"""Runs the OpenHands SDK inside the sandbox, with the gateway's model, and tells its events as they happen."""

import gc
import json
import os
import sys
import time
from pathlib import Path

gc.disable()  # until all is imported: looking through it again and again takes a sixth of the time
sys.path.insert(0, "/run")
os.environ |= {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # its import fetches a price list otherwise
    "OPENHANDS_SUPPRESS_BANNER": "1",
    "LOG_LEVEL": "ERROR",
}

from openhands.sdk import LLM, Agent, Conversation, Tool
from openhands.sdk.event import ActionEvent, AgentErrorEvent, MessageEvent, ObservationEvent
from openhands.sdk.llm import content_to_str
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr
from report import tell

gc.freeze()
gc.enable()


class Teller:
    """Pairs actions with what came of them."""

    def __init__(self):
        self._open = {}

    def __call__(self, event):
        if isinstance(event, ActionEvent):
            self._open[event.tool_call_id] = (time.monotonic(), event.tool_call.arguments)
        elif isinstance(event, ObservationEvent):
            text = "".join(content_to_str(event.observation.to_llm_content))
            self._tool(event, text, getattr(event.observation, "exit_code", None))
        elif isinstance(event, AgentErrorEvent):
            self._tool(event, event.error, None)
        elif not isinstance(event, MessageEvent) and type(event).__name__.endswith("ErrorEvent"):
            tell("note", f"{type(event).__name__}: {getattr(event, 'detail', event)}")

    def _tool(self, event, text, code):
        started, arguments = self._open.pop(event.tool_call_id, (time.monotonic(), None))
        seconds = time.monotonic() - started
        tell("tool", text, tool=event.tool_name, arguments=arguments, exit_code=code, seconds=seconds)


def main():
    settings = json.load(sys.stdin)
    llm = LLM(
        model="openai/benchmark",
        base_url=os.environ["OPENAI_BASE_URL"],
        api_key=SecretStr(os.environ["OPENAI_API_KEY"]),
        seed=settings["seed"],
        temperature=settings["temperature"],
        num_retries=1,  # the gateway has tried long enough before it says no
    )
    terminal = {"terminal_type": settings["terminal"], "no_change_timeout_seconds": settings["quiet_seconds"]}
    agent = Agent(llm=llm, tools=[Tool(name=TerminalTool.name, params=terminal), Tool(name=FileEditorTool.name)])
    conversation = Conversation(
        agent,
        workspace=str(Path.cwd()),
        callbacks=[Teller()],
        max_iteration_per_run=settings["iterations"],
        visualizer=None,
    )
    conversation.send_message(settings["instruction"])
    try:
        conversation.run()
        tell("note", f"OpenHands ended: {conversation.state.execution_status.value}")
    finally:
        conversation.close()


main()
