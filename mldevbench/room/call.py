"""One call of submitted code: a fresh process in a fresh sandbox, a request in, an untrusted answer out."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mldevbench.records import StopReason
from mldevbench.room.settings import RoomSettings
from mldevbench.room.warm import WARMTH
from mldevbench.room.wire import decode_answer, encode_request
from mldevbench.sandbox.gpu import DRIVER, seen_gpus
from mldevbench.sandbox.inside import runner
from mldevbench.sandbox.opening import open_sandbox
from mldevbench.sandbox.protocol import Bind, Finished, SandboxSpec, thread_count
from mldevbench.sandbox.zygote import Zygote
from mldevbench.unmet import Unmet

NAME = "calling the submitted code"
LAST_LINES = 12
LAST_CHARACTERS = 1200
RUNNER = Path(runner.__file__)
RUNNER_INSIDE = "/run/runner.py"
OPEN_ANSWER = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def spec_of(settings: RoomSettings, workspace: Path) -> SandboxSpec:
    """Return the sandbox of a room: its workspace, the task venv and the runner; no sockets, no data of ours."""
    minors, said = seen_gpus(settings.gpus, DRIVER.exists())
    return SandboxSpec(
        workspace,
        readonly=(Bind(RUNNER, RUNNER_INSIDE),),
        venv=settings.venv,
        environment={"PYTHONDONTWRITEBYTECODE": "1", **thread_count(1), **said},
        limits=settings.limits,
        gpus=minors,
    )


@dataclass(frozen=True)
class Call:
    """One question to submitted code."""

    probe: str
    inputs: Mapping[str, Any]
    seconds: float
    max_mb: float
    torch: bool  # whether the code is likely to import it

    def ask(self, settings: RoomSettings, workspace: Path) -> dict[str, Any]:
        """Return the answer of `probe(inputs)` beside the submitted files; anything else is Unmet."""
        limit = int(self.max_mb * 1_000_000)
        request = encode_request(self.probe, self.inputs, limit)
        name = f".answer-{secrets.token_hex(8)}"
        seconds = settings.seconds_left(self.seconds)
        with warm_process(settings, self.torch) as zygote:
            finished, breach = self.run(settings, workspace, zygote, request, name, seconds)
        require_end(finished, breach, seconds)
        return understood(workspace, name, limit, finished)

    def run(
        self,
        settings: RoomSettings,
        workspace: Path,
        zygote: Zygote | None,
        request: bytes,
        name: str,
        seconds: float,
    ) -> tuple[Finished, StopReason | None]:
        """Run the runner in a sandbox of its own, which is closed before anything is read."""
        spec = spec_of(settings, workspace)
        sandbox = zygote.open(spec) if zygote else open_sandbox(spec, settings.isolation)
        try:
            arguments = (sandbox.inside, name)
            if zygote:
                finished = zygote.run(sandbox, RUNNER_INSIDE, arguments, seconds=seconds, stdin=request)
            else:
                finished = sandbox.run(fresh_python(*arguments), seconds=seconds, stdin=request)
        finally:
            sandbox.close()
        return finished, sandbox.breach()


def warm_process(settings: RoomSettings, torch: bool) -> AbstractContextManager[Zygote | None]:
    # The warm process was started without any device: CUDA would not come up in its children.
    if not settings.warm or settings.isolation != "bubblewrap" or (settings.gpus and DRIVER.exists()):
        return nullcontext()
    return WARMTH.lent(settings.venv, start=torch)


def fresh_python(workspace: str, answer: str) -> list[str]:
    """Return the command that runs the runner where no file of ours can be bound."""
    # -I: neither the workspace nor its .pth or sitecustomize.py is looked at before the runner has what it needs.
    source = RUNNER.read_text(encoding="utf-8")
    return ["python", "-I", "-B", "-X", "utf8", "-c", source, workspace, answer]


def understood(workspace: Path, name: str, limit: int, finished: Finished) -> dict[str, Any]:
    """Return what the answer file says."""
    try:
        raw = read_answer(workspace, name, limit)
        if not raw:
            raise Unmet(NAME, "code that runs and answers", no_answer(finished))
        return decode_answer(raw)
    except ValueError as error:
        seen = f"its answer can't be used: {error}{last_lines(finished)}"
        raise Unmet(NAME, "an answer in the form that the validator asked for", seen) from None


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
    text = "\n".join(line[:200] for line in lines)
    return f"; its last lines:\n{text[-LAST_CHARACTERS:]}" if text else ""
