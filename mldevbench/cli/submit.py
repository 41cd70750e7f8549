"""`mldevbench submit`: the same command as a Ray job on a cluster, its log followed."""

from __future__ import annotations

import re
import secrets
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.output import Json, note, print_json
from mldevbench.errors import UserError

if TYPE_CHECKING:
    from cluster.submit import Jobs

COMMANDS = ("run", "variance", "scale", "regrade")
SETTINGS = {"ignore_unknown_options": True, "allow_extra_args": True}


def submit(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="run|variance|scale|regrade", help="A command as you would give it here."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option("--address", envvar="MLDEVBENCH_ADDRESS", help="The cluster's dashboard, as http://HEAD:8265."),
    ] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Don't follow the log.")] = False,
    attach: Annotated[str | None, typer.Option("--attach", metavar="JOB", help="Follow a job that is there.")] = None,
    json_: Json = False,
) -> None:
    """Run a study as a Ray job, follow its log and return its exit code; Ctrl-C detaches, the job goes on.

    Our code and the relative paths that you name travel along, absolute paths are the cluster's, keys never
    travel: they come from the head node's environment or from a file there (--env-file). The same command
    again goes on with the study.

    Example:

      mldevbench submit --address http://HEAD:8265 --agent react --model openai/gpt-4o --task all
      --storage s3://bucket/studies --env-file /etc/mldevbench/keys
    """
    from cluster.submit import Jobs, server_of

    if not words and not attach:
        raise UserError("nothing to submit; write the command that you would run here: mldevbench submit --agent …")
    if words and attach:
        raise UserError("--attach follows a job that is there; leave the rest out")
    server = server_of(address)
    job = attach or _send(server, list(words or ()))
    if detach:
        raise typer.Exit(_said(job, server, json_))
    raise typer.Exit(_follow(Jobs(server), job, json_))


def _send(server: str, words: list[str]) -> str:
    from cluster.submit import Jobs
    from mldevbench.cli.parcel import parcel_of

    command = words.pop(0) if words[0] in COMMANDS else "run"
    parcel = parcel_of(command, words)
    jobs = Jobs(server)
    name = f"{re.sub(r'[^A-Za-z0-9_-]+', '-', parcel.name)[:60]}-{secrets.token_hex(3)}"
    with tempfile.TemporaryDirectory(prefix="mldevbench-job-") as folder:
        parcel.lay_out(Path(folder))
        job = jobs.send(Path(folder), parcel.words, name)
    note(f"job {job} on {server}; stop it with: ray job stop {job} --address {server}")
    return job


def _follow(jobs: Jobs, job: str, json_: bool) -> int:
    log = sys.stderr if json_ else sys.stdout

    def show(text: str) -> None:
        log.write(text)
        log.flush()

    try:
        jobs.follow(job, show)
    except KeyboardInterrupt:
        note(f"\ndetached; job {job} goes on. Follow it with: {_again(job, jobs.address)}")
        return 130
    end = jobs.end(job)
    if json_:
        print_json({"job": job, "address": jobs.address, "status": end.status, "exit_code": end.exit_code})
    note(f"job {job} {end.status.lower()}" + (f": {end.message}" if end.exit_code == 1 and end.message else ""))
    return end.exit_code


def _said(job: str, server: str, json_: bool) -> int:
    if json_:
        print_json({"job": job, "address": server})
    note(f"follow it with: {_again(job, server)}")
    return 0


def _again(job: str, server: str) -> str:
    return shlex.join(["mldevbench", "submit", "--attach", job, "--address", server])
