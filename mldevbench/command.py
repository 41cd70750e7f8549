"""An agent that is a program of any kind, told about by YAML alone: its command line, environment and log."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from mldevbench.records import Step
from mldevbench.yamlfile import Strict

if TYPE_CHECKING:
    from mldevbench.agent import Context

AGENT_FOLDER = "/run/agent"  # where a program finds the files that agent.yaml shows
KEPT_BYTES = 200_000  # of what a program prints, and of its log


class CommandFile(Strict):
    """What `command:` in agent.yaml may say; `$names` are filled in, see docs/agents.md."""

    run: list[str]  # the words of the command line
    environment: dict[str, str] = {}
    stdin: str = ""
    log: str | None = None  # a file that it writes, read when it has ended
    mounts: list[str] = []  # folders of the machine that it needs, shown read-only at the same place

    def mounted(self) -> list[Path]:
        return [Path(folder).expanduser() for folder in self.mounts]

    def missing(self) -> list[Path]:
        """Return the folders that this machine doesn't have."""
        return [folder for folder in self.mounted() if not folder.exists()]


class CommandAgent:
    """Starts the program and lets it work; the gateway counts, the trajectory holds its turns and results."""

    def __init__(self, file: CommandFile, params: Mapping[str, Any]) -> None:
        self._file, self._params = file, params

    def run(self, instruction: str, context: Context) -> None:
        assert context.programs is not None, "an agent of this kind always has the gateway"
        names = self._names(instruction, context)

        def fill(text: str) -> str:
            return Template(text).safe_substitute(names)

        words = [fill(word) for word in self._file.run]
        own = {name: fill(text) for name, text in self._file.environment.items()}
        try:
            done = context.programs.run(
                words,
                stdin=fill(self._file.stdin).encode(),
                environment={**context.programs.environment, **own},
                keep_bytes=KEPT_BYTES,
            )
            text = done.output.decode(errors="replace")
            self._record(context, text, tool=words[0], exit_code=done.exit_code, seconds=done.seconds)
        finally:
            self._read_log(context, fill)
        if done.exit_code:
            last = (text.strip().splitlines() or ["nothing said"])[-1]
            raise RuntimeError(f"{words[0]} ended with {done.exit_code}: {last}")

    def _names(self, instruction: str, context: Context) -> dict[str, str]:
        assert context.programs is not None
        budget = context.budget
        known = {
            "instruction": instruction,
            "gateway": context.gateway_url,
            "key": context.gateway_key,
            "model": "benchmark",
            "workspace": context.sandbox.inside,
            "agent": AGENT_FOLDER,
            "python": context.programs.python,
            "seed": context.seed,
            "steps": budget.steps,
            "minutes": budget.minutes,
        }
        return {name: "" if value is None else str(value) for name, value in {**self._params, **known}.items()}

    def _read_log(self, context: Context, fill: Any) -> None:
        if self._file.log is None:
            return
        # Read by a command inside: the file, or what it has become, is the program's own making.
        words = ["tail", "-c", str(KEPT_BYTES), "--", fill(self._file.log)]
        done = context.sandbox.run(words, seconds=60, keep_bytes=KEPT_BYTES)
        self._record(context, done.output.decode(errors="replace"), tool="log")

    def _record(self, context: Context, text: str, **more: Any) -> None:
        number = context.model.usage.steps if context.model else 0
        context.record(Step(role="tool" if "exit_code" in more else "note", text=text, number=number, **more))
