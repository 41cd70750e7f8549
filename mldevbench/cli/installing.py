"""Installing agents under a person's eyes."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from mldevbench import agent_venv
from mldevbench.agent import Agent
from mldevbench.cli.output import note
from mldevbench.errors import UserError


def install(agent: Agent, python: Path | None = None) -> Path | None:
    """Build an agent's venv with a bar, or a line now and then where nobody looks; None if it needs none."""
    if agent.file.venv is None:
        return None
    there = agent_venv.installed(agent.folder, agent.file.venv)
    if there is not None:
        return there
    note(f"installing {agent.id}; this is done once on each machine")
    if not sys.stderr.isatty():
        return agent_venv.build(agent.folder, agent.file.venv, python=python, tell=_line)
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(agent.id),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(agent.id, what="")

        def tell(done: int, total: int, what: str) -> None:
            progress.update(bar, completed=done, total=total, what=what[:40])

        return agent_venv.build(agent.folder, agent.file.venv, python=python, tell=tell)


def _line(done: int, total: int, what: str) -> None:
    if done % 25 == 0 or what == "unpacking":
        note(f"  {done} of {total} packages: {what}")


def see_to(agents: Iterable[Agent], no_install: bool) -> None:
    """Install what this machine lacks, before anything is spent, or say what is missing."""
    for agent in agents:
        agent.mounts()
        if not no_install:
            install(agent)
        elif agent.file.venv is not None and agent_venv.installed(agent.folder, agent.file.venv) is None:
            raise UserError(
                f"agent {agent.id!r} isn't installed here; run 'mldevbench agents install {agent.id}', "
                "or leave out --no-install"
            )
