"""`mldevbench agents`: what can be evaluated."""

from __future__ import annotations

from pathlib import Path

import typer

from mldevbench.cli.output import Json, Root, print_json, print_table

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
        print_json([{"agent": agent.id, **agent.file.model_dump()} for agent in agents])
        return
    print_table(
        "",
        ("agent", "needs a model", "summary"),
        [(agent.id, "yes" if agent.file.needs_model else "no", agent.file.summary) for agent in agents],
    )
