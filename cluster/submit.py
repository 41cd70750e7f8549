"""Jobs on a cluster by Ray's job server: send one, follow its log, tell how its driver ended."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mldevbench.errors import UserError

if TYPE_CHECKING:
    from ray.job_submission import JobSubmissionClient

HERE = "http://127.0.0.1:8265"
AGAIN_SECONDS = 3.0
YOUNG_SECONDS = 120.0  # a head answers some time before it can take a job
STOP_SECONDS = "20"  # for the driver to end in order; Ray's own 3 s are short for a busy one


@dataclass(frozen=True)
class JobEnd:
    """How a job ended, in the words of our exit codes."""

    status: str
    exit_code: int
    message: str


def server_of(said: str | None) -> str:
    """Return the job server's address: the option, else what Ray's own commands would take, else this machine."""
    address = said or os.environ.get("RAY_API_SERVER_ADDRESS") or os.environ.get("RAY_ADDRESS") or HERE
    if address in ("local", "auto"):
        return HERE
    if address.startswith("ray://"):
        raise UserError(f"--address {address}: jobs go to the dashboard, such as http://HEAD:8265")
    return address if "://" in address else f"http://{address}"


def exit_code(status: str, driver_code: int | None) -> int:
    """Return the driver's code; a job that was stopped was interrupted, one that never came to an end broke."""
    if driver_code is not None:
        return driver_code if driver_code >= 0 else 128 - driver_code
    return {"SUCCEEDED": 0, "STOPPED": 130}.get(status, 1)


class Jobs:
    """The job server of one cluster."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.client = _client(address)

    def send(self, folder: Path, words: Sequence[str], name: str) -> str:
        """Submit a command with a working folder; only names and paths are in it, never a key."""
        runtime_env: dict[str, Any] = {
            "working_dir": str(folder),
            "env_vars": {"RAY_JOB_STOP_WAIT_TIME_S": STOP_SECONDS},
        }
        entrypoint = shlex.join(["python", "-m", "mldevbench", *words])
        deadline = time.monotonic() + YOUNG_SECONDS
        while True:
            try:
                return self.client.submit_job(entrypoint=entrypoint, submission_id=name, runtime_env=runtime_env)
            except (RuntimeError, ValueError, OSError) as error:
                if "No available agent" not in str(error) or time.monotonic() > deadline:
                    raise UserError(f"{self.address} took no job: {_first_line(error)}") from None
                time.sleep(AGAIN_SECONDS)

    def follow(self, job: str, show: Callable[[str], None]) -> None:
        """Show the job's log as it grows, until the job has ended; a lost connection is taken up again."""
        shown = 0
        while True:
            try:
                shown = asyncio.run(self._tail(job, show, shown))
            except (RuntimeError, OSError, _lost()):
                # A proxy that lets no web socket through still lets us ask.
                text = self._log(job)
                show(text[shown:])
                shown = max(shown, len(text))
            if self._status(job).is_terminal():
                return
            time.sleep(AGAIN_SECONDS)

    async def _tail(self, job: str, show: Callable[[str], None], shown: int) -> int:
        seen = 0
        async for text in self.client.tail_job_logs(job):
            show(text[max(shown - seen, 0) :])
            seen += len(text)
        return max(shown, seen)

    def _log(self, job: str) -> str:
        try:
            return self.client.get_job_logs(job)
        except (RuntimeError, OSError):
            return ""

    def _status(self, job: str) -> Any:
        while True:
            try:
                return self.client.get_job_status(job)
            except RuntimeError as error:
                raise UserError(f"job {job} isn't known at {self.address}: {_first_line(error)}") from None
            except OSError:  # the cluster can't be reached for a while; the job goes on without us
                time.sleep(AGAIN_SECONDS)

    def end(self, job: str) -> JobEnd:
        """Tell how a job ended that has."""
        found = self.client.get_job_info(job)
        status = str(found.status.value)
        return JobEnd(status, exit_code(status, found.driver_exit_code), _first_line(found.message or ""))


def _client(address: str) -> JobSubmissionClient:
    tokens = (os.environ.get("RAY_AUTH_TOKEN"), os.environ.get("RAY_AUTH_TOKEN_PATH"))
    if any(tokens) or (Path.home() / ".ray" / "auth_token").is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")  # a token alone does nothing, and is read at the import
    os.environ["RAY_API_SERVER_ADDRESS"] = address  # else RAY_ADDRESS would win over what was said
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    logging.disable(logging.INFO)  # Ray's client tells of every package that it makes
    from ray.exceptions import AuthenticationError
    from ray.job_submission import JobSubmissionClient

    try:
        return JobSubmissionClient(address)
    except AuthenticationError as error:
        raise UserError(
            f"{address} refused us: {_first_line(error)}; set RAY_AUTH_TOKEN_PATH to the cluster's token file"
        ) from None
    except (RuntimeError, ValueError, OSError) as error:
        raise UserError(
            f"no job server at {address} ({_first_line(error)}); give the dashboard's --address, such as http://HEAD:8265"
        ) from None


def _lost() -> type[Exception]:
    import aiohttp

    return aiohttp.ClientError


def _first_line(said: object) -> str:
    nothing = type(said).__name__ if isinstance(said, Exception) else ""
    return next((line.strip().rstrip(".") for line in str(said).splitlines() if line.strip()), nothing)
