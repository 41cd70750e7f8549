"""One call of submitted code: a fresh process in a fresh sandbox, a request in, an untrusted answer out."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mldevbench.records import StopReason
from mldevbench.room.settings import RoomSettings
from mldevbench.room.wire import decode_answer, encode_request
from mldevbench.sandbox.inside import runner
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import Finished, SandboxSpec
from mldevbench.unmet import Unmet

NAME = "calling the submitted code"
LAST_LINES = 12
OPEN_ANSWER = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@cache
def runner_source() -> str:
    return Path(runner.__file__).read_text(encoding="utf-8")


def spec_of(settings: RoomSettings, workspace: Path) -> SandboxSpec:
    """Return the sandbox of a room: its workspace and the task venv, no sockets, no data of ours."""
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    return SandboxSpec(
        workspace, venv=settings.venv, environment=environment, limits=settings.limits, gpus=settings.gpus
    )


def call(
    settings: RoomSettings, workspace: Path, probe: str, inputs: Mapping[str, Any], seconds: float, max_mb: float
) -> dict[str, Any]:
    """Return the answer of `probe(inputs)` beside the submitted files; anything else is Unmet."""
    limit = int(max_mb * 1_000_000)
    request = encode_request(probe, inputs, limit)
    answer = f".answer-{secrets.token_hex(8)}"
    allowed = settings.seconds_left(seconds)
    finished, breach = run_fresh(settings, workspace, request, answer, allowed)
    require_end(finished, breach, allowed)
    try:
        raw = read_answer(workspace, answer, limit)
        if not raw:
            raise Unmet(NAME, "code that runs and answers", no_answer(finished))
        return decode_answer(raw)
    except ValueError as error:
        seen = f"its answer can't be used: {error}{last_lines(finished)}"
        raise Unmet(NAME, "an answer in the form that the validator asked for", seen) from None


def run_fresh(
    settings: RoomSettings, workspace: Path, request: bytes, answer: str, seconds: float
) -> tuple[Finished, StopReason | None]:
    sandbox = open_sandbox(spec_of(settings, workspace), settings.isolation)
    try:
        # -I: neither the workspace nor its .pth or sitecustomize.py is looked at before the runner has what it needs.
        argv = ["python", "-I", "-B", "-X", "utf8", "-c", runner_source(), sandbox.inside, answer]
        finished = sandbox.run(argv, seconds=seconds, stdin=request)
    finally:
        sandbox.close()
    return finished, sandbox.breach()


def require_end(finished: Finished, breach: StopReason | None, seconds: float) -> None:
    if breach is not None:
        raise Unmet(NAME, "code that stays within the limits", f"it broke the limit of {breach}{last_lines(finished)}")
    if finished.timed_out:
        raise Unmet(NAME, f"an answer within {seconds:.0f} s", f"none by then{last_lines(finished)}")


def read_answer(workspace: Path, name: str, limit: int) -> bytes:
    """Read the answer file, if there is one, and nothing that took its place."""
    descriptor = -1
    try:
        folder = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            descriptor = os.open(name, OPEN_ANSWER, dir_fd=folder)
        finally:
            os.close(folder)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("it is no regular file")
        room = limit + (9 << 20)
        if status.st_size > room:
            raise ValueError(f"it has {status.st_size:,} bytes, more than {limit:,}")
        with os.fdopen(descriptor, "rb") as file:
            descriptor = -1
            return file.read(room)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ValueError(f"it can't be read ({error.strerror})") from None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def no_answer(finished: Finished) -> str:
    code = finished.exit_code
    how = f"it ended with exit code {code}" if code else "it ended before it answered"
    return how + last_lines(finished)


def last_lines(finished: Finished) -> str:
    """Quote the end of what the code printed."""
    lines = finished.output.decode("utf-8", "replace").strip().splitlines()[-LAST_LINES:]
    return ("; its last lines:\n" + "\n".join(line[:200] for line in lines)) if lines else ""
