"""ReAct's tools: what each is called, what it takes, and what it does inside the sandbox."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mldevbench.sandbox.protocol import Finished, Sandbox

LARGEST_FILE = 8 * 1024 * 1024  # bytes that `edit_file` reads
LARGEST_OUTPUT = 64 * 1024 * 1024  # bytes kept of a command, all of it put into a file
LONGEST_SLEEP = 3600
OUTPUT = ".output"
WRITE = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'
LIST = 'find "$1" -maxdepth 3 -not -path "*/.*" -printf "%y %9s  %p\\n" | sort -k 3 | head -n 400'
SPAWNED = 'bash -c "$1"; echo $? > "$2"'


def _tool(name: str, description: str, **parameters: tuple[str, str]) -> dict[str, Any]:
    properties = {key: {"type": kind, "description": about} for key, (kind, about) in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


DEFINITIONS = [
    _tool(
        "shell",
        "Run a short command with bash in the working folder and return its output. "
        "A command that takes long is stopped: start it with spawn.",
        command=("string", "the command"),
    ),
    _tool(
        "spawn",
        "Start a long command, for example a training, in the background; return its number and the file "
        "that its output goes to.",
        command=("string", "the command"),
    ),
    _tool(
        "sleep_and_execute",
        "Wait, then run a short command, for example to look at the output of a spawned one.",
        seconds=("number", "how long to wait"),
        command=("string", "the command to run afterwards"),
    ),
    _tool(
        "create_file",
        "Write a file, with the folders above it; one that exists is replaced.",
        path=("string", "the file"),
        content=("string", "all of its text"),
    ),
    _tool("list_files", "List the files below a folder.", path=("string", "the folder, '.' for the working one")),
    _tool(
        "edit_file",
        "Replace one piece of a text file by another.",
        path=("string", "the file"),
        old=("string", "the piece to replace, exactly as it is there, with enough around it to occur once"),
        new=("string", "what comes in its place"),
    ),
]
_TAKES = {
    tool["function"]["name"]: tool["function"]["parameters"]["properties"]
    for tool in DEFINITIONS
}  # fmt: skip
_KINDS: dict[str, Any] = {"string": str, "number": (int, float)}


@dataclass(frozen=True)
class Done:
    """What the model is told, and how the command ended; no exit code where there was no command."""

    text: str
    exit_code: int | None = None
    seconds: float = 0.0


class WrongUse(Exception):
    """A call that the model can put right itself."""


class Toolbox:
    """The tools of one attempt."""

    def __init__(self, sandbox: Sandbox, shell_seconds: float, shown_characters: int) -> None:
        self._sandbox = sandbox
        self._shell_seconds = shell_seconds
        self._shown = shown_characters
        self._files = 0
        self._jobs = 0
        self._acts: dict[str, Callable[..., Done]] = {
            "shell": self._shell,
            "spawn": self._spawn,
            "sleep_and_execute": self._sleep_and_execute,
            "create_file": self._create_file,
            "list_files": self._list_files,
            "edit_file": self._edit_file,
        }

    def act(self, name: str, arguments: str) -> Done:
        """Do what a model asked for; what it got wrong comes back as text."""
        started = time.monotonic()
        try:
            checked = _checked(name, arguments)
            done = self._acts[name](**checked)
        except WrongUse as error:
            done = Done(f"error: {error}")
        return Done(done.text, done.exit_code, time.monotonic() - started)

    def _shell(self, command: str) -> Done:
        return self._told(self._run(["bash", "-c", command], self._shell_seconds))

    def _sleep_and_execute(self, seconds: float, command: str) -> Done:
        if not 0 <= seconds <= LONGEST_SLEEP:
            raise WrongUse(f"seconds must be between 0 and {LONGEST_SLEEP}")
        slept = ["bash", "-c", 'sleep "$1" && exec bash -c "$2"', "bash", str(seconds), command]
        return self._told(self._run(slept, seconds + self._shell_seconds))

    def _spawn(self, command: str) -> Done:
        self._jobs += 1
        log, code = f"{OUTPUT}/job{self._jobs}.log", f"{OUTPUT}/job{self._jobs}.exit"
        self._run(["mkdir", "-p", OUTPUT], self._shell_seconds)
        pid = self._sandbox.spawn(["bash", "-c", SPAWNED, "bash", command, code], log=log)
        return Done(f"job {self._jobs} runs as process {pid}; output in {log}; its exit code will be in {code}")

    def _create_file(self, path: str, content: str) -> Done:
        written = self._write(path, content.encode())
        return Done(f"wrote {path}", 0) if written.exit_code == 0 else self._told(written)

    def _list_files(self, path: str) -> Done:
        return self._told(self._run(["bash", "-c", LIST, "bash", path], self._shell_seconds))

    def _edit_file(self, path: str, old: str, new: str) -> Done:
        read = self._run(["head", "-c", str(LARGEST_FILE + 1), "--", path], self._shell_seconds)
        if read.exit_code != 0:
            return self._told(read)
        if read.output_bytes > LARGEST_FILE:
            raise WrongUse(f"{path} is too large to edit")
        try:
            text = read.output.decode()
        except UnicodeDecodeError:
            raise WrongUse(f"{path} is no text file") from None
        found = text.count(old) if old else 0
        if found != 1:
            raise WrongUse(f"the piece to replace occurs {found} times in {path}; it must occur once")
        written = self._write(path, text.replace(old, new).encode())
        return Done(f"edited {path}", 0) if written.exit_code == 0 else self._told(written)

    def _run(self, argv: list[str], seconds: float, stdin: bytes = b"") -> Finished:
        return self._sandbox.run(argv, seconds=seconds, stdin=stdin, keep_bytes=LARGEST_OUTPUT)

    def _write(self, path: str, data: bytes) -> Finished:
        return self._run(["bash", "-c", WRITE, "bash", path], self._shell_seconds, data)

    def _told(self, finished: Finished) -> Done:
        """Show the output, its middle left out and kept in a file if it is long, and how it ended."""
        text = finished.output.decode(errors="replace")
        if len(text) > self._shown:
            self._files += 1
            kept = f"{OUTPUT}/{self._files:04}.txt"
            self._write(kept, finished.output)
            half = self._shown // 2
            left_out = len(text) - 2 * half
            text = f"{text[:half]}\n[… {left_out} characters left out; all of it is in {kept} …]\n{text[-half:]}"
        if finished.timed_out:
            return Done(f"{text}\n[stopped after {finished.seconds:.0f} s]", finished.exit_code)
        return Done(f"{text}\n[exit code {finished.exit_code}]", finished.exit_code)


def _checked(name: str, arguments: str) -> dict[str, Any]:
    """Return the arguments, or say what is wrong with them."""
    if name not in _TAKES:
        raise WrongUse(f"there is no tool {name!r}; there are {', '.join(_TAKES)}")
    try:
        given = json.loads(arguments)
    except ValueError as error:
        raise WrongUse(f"the arguments are not JSON: {error}") from None
    takes = _TAKES[name]
    if not isinstance(given, dict) or set(given) != set(takes):
        raise WrongUse(f"{name} takes {', '.join(takes)}")
    for key, value in given.items():
        if not isinstance(value, _KINDS[takes[key]["type"]]) or isinstance(value, bool):
            raise WrongUse(f"{key} must be a {takes[key]['type']}")
        if isinstance(value, str) and "\0" in value and key != "content":
            raise WrongUse(f"{key} must not contain a zero byte")
        if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
            raise WrongUse(f"{key} must not contain half a character")
    return given
