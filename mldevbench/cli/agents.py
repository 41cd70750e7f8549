"""`mldevbench agents`: what can be evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mldevbench.cli import completion
from mldevbench.cli.output import Json, Root, print_json, print_table

if TYPE_CHECKING:
    from mldevbench.agent import Agent
    from mldevbench.catalog import Catalog

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
    agent: Annotated[
        list[str],
        typer.Argument(metavar="AGENT", help="Agent ids or folders.", autocompletion=completion.agents),
    ],
    python: Annotated[Path | None, typer.Option("--python", help="The Python to build it on.")] = None,
    root: Root = [],
) -> None:
    """Install agents that bring packages of their own, each into a venv of its own in the cache folder."""
    from mldevbench.catalog import Catalog
    from mldevbench.cli.installing import install as build

    catalog = Catalog.of([Path(folder) for folder in root])
    for found in [_called(catalog, name) for name in agent]:
        where = build(found, python)
        print(f"{found.id}: {where}" if where else f"{found.id}: needs nothing of its own")


def _called(catalog: Catalog, name: str) -> Agent:
    """Return an agent by its id, its folder, or its id as the package's own name is written."""
    folders, spelled = catalog.agent_folders, name.replace("-", "_")
    return catalog.agent(spelled if name not in folders and spelled in folders else name)


def _installed(agent: Agent) -> bool | None:
    """Tell whether it can be run here; None: there is nothing to install."""
    from mldevbench import agent_venv

    return None if agent.file.venv is None else agent_venv.installed(agent.folder, agent.file.venv) is not None


def _shown(installed: bool | None) -> str:
    return {None: "", True: "yes", False: "no"}[installed]


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="The new agent's id.")],
    folder: Annotated[Path, typer.Option("--in", help="Where its folder is made.")] = Path(),
) -> None:
    """Make a new agent's folder: one YAML file about a program, and a program to be replaced by yours."""
    from mldevbench.cli.making import make_agent

    made = make_agent(name, folder)
    shown = made if made.is_absolute() else f"./{made}"
    print(f"{shown}: write your own command into agent.yaml, then: mldevbench agents check {shown}")


@app.command()
def check(
    agent: Annotated[
        str, typer.Argument(metavar="AGENT", help="Agent id or folder.", autocompletion=completion.agents)
    ],
    task: Annotated[str, typer.Option("--task", help="The task it is tried on.")] = "hello_world",
    script: Annotated[Path | None, typer.Option("--script", help="Turns with which it solves the task.")] = None,
    sandbox: Annotated[str, typer.Option("--sandbox", help="auto, bubblewrap, apptainer or docker.")] = "auto",
    root: Root = [],
    json_: Json = False,
) -> None:
    """Try an agent with a scripted model: metering, budget stop, trajectory, clean kill; exit code 1 if one fails."""
    from dataclasses import asdict

    from mldevbench import task_venv
    from mldevbench.agent_check import Ground, check_agent
    from mldevbench.catalog import Catalog
    from mldevbench.cli.installing import install as build
    from mldevbench.sandbox.opening import choose

    catalog = Catalog.of([Path(folder) for folder in root])
    found = _called(catalog, agent)
    found.mounts()
    build(found)
    ground = Ground(found, catalog.task(task), task_venv.path(), choose(sandbox, trusted=False))
    turns = script.read_text(encoding="utf-8") if script else None
    checks = []
    for one in check_agent(ground, turns):
        checks.append(one)
        if not json_:
            print(f"{'ok  ' if one.passed else 'FAIL'}  {one.name:16} {one.seen if one.passed else ''}".rstrip())
            if not one.passed:
                print(f"      expected {one.expected}; seen {one.seen}")
    if json_:
        print_json([asdict(one) for one in checks])
    raise typer.Exit(0 if all(one.passed for one in checks) else 1)
