"""`mldevbench agents`: what can be evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli.output import Json, Root, print_json, print_table

if TYPE_CHECKING:
    from mldevbench.agent import Agent

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def _agents() -> None:
    pass


@app.command("list")
def list_(root: Root = [], json_: Json = False) -> None:
    """List the agents."""
    from mldevbench.catalog import Catalog

    catalog = Catalog.of([Path(folder) for folder in root])
    agents = [catalog.agent(name) for name in catalog.agent_folders]
    if json_:
        print_json([{"agent": agent.id, "installed": _installed(agent), **agent.file.model_dump()} for agent in agents])
        return
    print_table(
        "",
        ("agent", "needs a model", "installed", "summary"),
        [
            (agent.id, "yes" if agent.file.needs_model else "no", _shown(_installed(agent)), agent.file.summary)
            for agent in agents
        ],
    )


@app.command()
def install(
    agent: Annotated[list[str], typer.Argument(metavar="AGENT…", help="Agent ids or folders.")],
    python: Annotated[Path | None, typer.Option("--python", help="The Python to build it on.")] = None,
    root: Root = [],
) -> None:
    """Install agents that bring packages of their own, each into a venv of its own in the cache folder."""
    from mldevbench.catalog import Catalog
    from mldevbench.cli.installing import install as build

    catalog = Catalog.of([Path(folder) for folder in root])
    for found in [catalog.agent(name.replace("-", "_") if "/" not in name else name) for name in agent]:
        where = build(found, python)
        print(f"{found.id}: {where}" if where else f"{found.id}: needs nothing of its own")


def _installed(agent: Agent) -> bool | None:
    """Tell whether it can be run here; None: there is nothing to install."""
    from mldevbench import agent_venv

    return None if agent.file.venv is None else agent_venv.installed(agent.folder, agent.file.venv) is not None


def _shown(installed: bool | None) -> str:
    return {None: "", True: "yes", False: "no"}[installed]
